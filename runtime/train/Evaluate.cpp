// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Evaluate.h"

#include <chrono>

#include "runtime/data/Batch.h"
#include "runtime/train/Dump.h"

namespace qrt {

/// The loss of each trained token: the position that predicts it, in the row, and the loss.
static Status dumpLosses(const HostBatch &batch, std::span<const float> losses, const std::string &directory,
                         const std::string &name) {
  TensorDump dump;
  std::vector<int64_t> shape = {batch.trained()};
  dump.add({"position", DType::I32, shape}, std::as_bytes(std::span(batch.trainedRows)));
  dump.add({"loss", DType::F32, shape}, std::as_bytes(losses.first(batch.trainedRows.size())));
  return dump.write(directory, name);
}

StatusOr<EvalResult> evaluate(Session &session, const TokenData &data, const EvalOptions &options) {
  auto begin = std::chrono::steady_clock::now();
  EvalResult result;
  double sum = 0;
  TokenRow row;
  HostBatch batch;
  for (int64_t index = 0; index < data.rows(); ++index) {
    if (data.rowShape(index).trained == 0 && options.dumpHidden.empty())
      continue;
    QRT_ASSIGN_OR_RETURN(BucketShape bucket, session.bucketFor(data.rowShape(index)));
    data.readRow(index, row);
    QRT_RETURN_IF_ERROR(fillBatch(row, bucket, batch));
    QRT_RETURN_IF_ERROR(session.loadBatch(batch));
    HiddenDump hidden;
    QRT_ASSIGN_OR_RETURN(StepResult step,
                         session.run(EntryKind::Eval, bucket, options.dumpHidden.empty() ? nullptr : &hidden));
    sum += step.loss;
    result.trainedTokens += batch.trained();
    std::string name = fmt::format("row-{:05}", index);
    if (!options.dumpHidden.empty())
      QRT_RETURN_IF_ERROR(hidden.tensors().write(options.dumpHidden, name));
    if (!options.dumpLosses.empty())
      QRT_RETURN_IF_ERROR(dumpLosses(batch, step.rowLosses, options.dumpLosses, name));
  }
  if (result.trainedTokens == 0)
    return error(StatusCode::InvalidData, "{}: no token is trained in any row", data.directory());
  result.loss = sum / static_cast<double>(result.trainedTokens);
  result.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

} // namespace qrt
