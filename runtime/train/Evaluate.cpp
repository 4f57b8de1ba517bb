// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Evaluate.h"

#include "runtime/base/Stopwatch.h"
#include "runtime/data/Batch.h"
#include "runtime/data/SafetensorsWriter.h"
#include "runtime/executor/DebugDump.h"

namespace qrt {

/// The loss of each trained token: the position that predicts it, in the row, and the loss.
static Status dumpLosses(const HostBatch &batch, std::span<const float> losses, const std::string &path) {
  std::vector<int64_t> shape = {batch.trained()};
  QRT_ASSIGN_OR_RETURN(
      SafetensorsWriter writer,
      SafetensorsWriter::create(path, {{"loss", DType::F32, shape}, {"position", DType::I32, shape}}, {}));
  QRT_RETURN_IF_ERROR(writer.append("loss", asBytes(losses.first(batch.trainedRows.size()))));
  QRT_RETURN_IF_ERROR(writer.append("position", asBytes(std::span<const int32_t>(batch.trainedRows))));
  return writer.finish().status();
}

StatusOr<EvalResult> evaluate(Session &session, const TokenData &data, const EvalOptions &options) {
  Stopwatch watch;
  bool hidden = !options.dumpHidden.empty(), losses = !options.dumpLosses.empty();
  for (const std::string &directory : {options.dumpHidden, options.dumpLosses})
    if (!directory.empty())
      QRT_RETURN_IF_ERROR(createDirectories(directory));
  DebugDump dump(session.program(), DebugDump::Kind::Hidden);
  EvalResult result;
  double sum = 0;
  TokenRow row;
  HostBatch batch;
  for (int64_t index = 0; index < data.rows(); ++index) {
    if (data.rowShape(index).trained == 0 && !hidden)
      continue;
    QRT_ASSIGN_OR_RETURN(BucketShape bucket, session.bucketFor(EntryKind::Eval, data.rowShape(index)));
    data.readRow(index, row);
    QRT_RETURN_IF_ERROR(fillBatch(row, bucket, batch));
    QRT_RETURN_IF_ERROR(session.loadBatch(batch));
    QRT_ASSIGN_OR_RETURN(RunResult run, session.run(EntryKind::Eval, hidden ? &dump : nullptr));
    sum += run.loss;
    result.trainedTokens += batch.trained();
    std::string file = fmt::format("row-{:05}.safetensors", index);
    if (hidden)
      QRT_RETURN_IF_ERROR(dump.write(joinPath(options.dumpHidden, file)));
    if (losses)
      QRT_RETURN_IF_ERROR(dumpLosses(batch, run.rowLoss, joinPath(options.dumpLosses, file)));
    if (options.progress)
      options.progress(index + 1, sum / static_cast<double>(result.trainedTokens));
  }
  if (result.trainedTokens == 0)
    return error(StatusCode::InvalidData, "{}: no token is trained in any row", data.directory());
  result.loss = sum / static_cast<double>(result.trainedTokens);
  result.milliseconds = watch.milliseconds();
  return result;
}

} // namespace qrt
