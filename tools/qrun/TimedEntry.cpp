// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qrun/TimedEntry.h"

#include "runtime/data/Batch.h"
#include "tools/cli/Numbers.h"

#include <algorithm>

namespace qrt {

void addTimedEntryOptions(CLI::App &command, TimedEntryArguments &arguments) {
  addSessionOptions(command, arguments.session);
  command.add_flag("--scratch", arguments.session.scratch, "Random weights instead of a checkpoint's");
  command.add_option("--entry", arguments.entry, "step or eval")->capture_default_str();
  addNumber(command, "--seconds", arguments.seconds, "How long the entry, and its matrix products alone, are repeated");
}

StatusOr<TimedEntry> timeEntry(const TimedEntryArguments &arguments, Specializer *compiler) {
  if (arguments.entry != "step" && arguments.entry != "eval")
    return error(StatusCode::InvalidUsage, "--entry: expected step or eval, got {}", arguments.entry);
  TimedEntry timed;
  timed.kind = arguments.entry == "step" ? EntryKind::Step : EntryKind::Eval;
  QRT_ASSIGN_OR_RETURN(TokenData data, openPacked("--data", arguments.session.data));
  if (data.rows() == 0)
    return error(StatusCode::InvalidData, "{}: expected a row to run, got none", data.directory());
  const RowsToRun rows[] = {{data, timed.kind, /*onlyFirst=*/true}};
  QRT_ASSIGN_OR_RETURN(timed.open, openSession(arguments.session, rows, compiler));
  Session &session = *timed.open.session;
  BucketShape shape = data.rowShape(0);
  QRT_ASSIGN_OR_RETURN(BucketShape bucket, session.bucketFor(timed.kind, shape));
  TokenRow tokens;
  HostBatch batch;
  data.readRow(0, tokens);
  timed.row = {shape.tokens, shape.trained, 0};
  for (size_t d = 0; d + 1 < tokens.documentOffsets.size(); ++d) {
    int64_t length = tokens.documentOffsets[d + 1] - tokens.documentOffsets[d];
    timed.row.squaredLengths += length * length;
  }
  QRT_RETURN_IF_ERROR(fillBatch(tokens, bucket, batch));
  QRT_RETURN_IF_ERROR(session.loadBatch(batch));
  session.setScalars(1.0f / static_cast<float>(std::max<int64_t>(shape.trained, 1)),
                     {1e-6f, 0.9f, 0.999f, 1e-8f, 0.1f, 1.0f, {}}, 1);
  // As in training: the first run finds everything loaded.
  QRT_RETURN_IF_ERROR(session.run(timed.kind).status());
  QRT_ASSIGN_OR_RETURN(timed.times, session.time(timed.kind, arguments.seconds));
  return timed;
}

StatusOr<MachineRates> machineRates(const std::string &path, const Program &program) {
  if (path.empty())
    return defaultMachineRates(program.target());
  QRT_ASSIGN_OR_RETURN(MachineRates rates, readMachineRates(path));
  if (rates.target != program.target())
    return error(StatusCode::InvalidData, "{}: rates of {}, but {} is compiled for {}", path, rates.target,
                 program.source(), program.target());
  return rates;
}

} // namespace qrt
