// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qrun profile: where the time of a step goes.
#include "runtime/executor/Profile.h"

#include "runtime/data/Batch.h"
#include "tools/cli/Numbers.h"
#include "tools/qrun/Command.h"
#include "tools/qrun/Programs.h"

namespace qrt {
namespace {

struct Options {
  SessionArguments session;
  std::string entry = "step";
  double seconds = 3;
};

Status profile(const Options &options, Specializer *compiler) {
  if (options.entry != "step" && options.entry != "eval")
    return error(StatusCode::InvalidUsage, "--entry: expected step or eval, got {}", options.entry);
  EntryKind kind = options.entry == "step" ? EntryKind::Step : EntryKind::Eval;
  QRT_ASSIGN_OR_RETURN(TokenData data, openPacked("--data", options.session.data));
  QRT_ASSIGN_OR_RETURN(OpenSession open, openSession(options.session, data, nullptr, kind, compiler));
  Session &session = *open.session;
  BucketShape row = data.rowShape(0);
  QRT_ASSIGN_OR_RETURN(BucketShape bucket, session.bucketFor(kind, row));
  TokenRow tokens;
  HostBatch batch;
  data.readRow(0, tokens);
  QRT_RETURN_IF_ERROR(fillBatch(tokens, bucket, batch));
  QRT_RETURN_IF_ERROR(session.loadBatch(batch));
  session.setScalars(1.0f / static_cast<float>(std::max<int64_t>(row.trained, 1)),
                     {1e-6f, 0.9f, 0.999f, 1e-8f, 0.1f, 1.0f, {}}, 1);
  // As in training: the first run finds everything loaded.
  QRT_RETURN_IF_ERROR(session.run(kind).status());
  QRT_ASSIGN_OR_RETURN(ExecutionTimes times, session.time(kind, options.seconds));
  fmt::print("\nentry {}, row 0 of {}\n{}", session.entryFor(kind)->name(), options.session.data,
             profileReport(*session.entryFor(kind), times, row));
  return Status();
}

} // namespace

void addProfileCommand(CLI::App &app, Command &command, Specializer *compiler) {
  auto options = std::make_shared<Options>();
  CLI::App *profile = app.add_subcommand("profile", "Where the time of a step goes, on the first row of the data");
  addSessionOptions(*profile, options->session);
  profile->add_flag("--scratch", options->session.scratch, "Random weights instead of a checkpoint's");
  profile->add_option("--entry", options->entry, "step or eval")->capture_default_str();
  addNumber(*profile, "--seconds", options->seconds, "How long the step, and its matrix products alone, are repeated");
  profile->callback(
      [options, compiler, &command] { command = [options, compiler] { return qrt::profile(*options, compiler); }; });
}

} // namespace qrt
