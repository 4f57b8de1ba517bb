// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qrun eval: the loss of a checkpoint on packed data.
#include "runtime/base/Digits.h"
#include "runtime/base/Stopwatch.h"
#include "runtime/train/Evaluate.h"
#include "tools/qrun/Command.h"
#include "tools/qrun/Programs.h"

#include <cmath>

namespace qrt {
namespace {

struct Options {
  SessionArguments session;
  EvalOptions eval;
};

Status eval(const Options &options, Specializer *compiler) {
  QRT_ASSIGN_OR_RETURN(TokenData data, openPacked("--data", options.session.data));
  const RowsToRun rows[] = {{data, EntryKind::Eval}};
  QRT_ASSIGN_OR_RETURN(OpenSession open, openSession(options.session, rows, compiler));
  EvalOptions evalOptions = options.eval;
  // A line at most every ten seconds, as training has one at least.
  constexpr double kSilentMilliseconds = 10e3;
  double nextMilliseconds = kSilentMilliseconds;
  Stopwatch watch;
  evalOptions.progress = [&](int64_t done, double loss) {
    if (double now = watch.milliseconds(); now >= nextMilliseconds) {
      nextMilliseconds = now + kSilentMilliseconds;
      say("row {}/{}  loss {:.4f}\n", done, data.rows(), plainNan(loss));
      std::fflush(stdout);
    }
  };
  QRT_ASSIGN_OR_RETURN(EvalResult result, evaluate(*open.session, data, evalOptions));
  say("loss {:.6f}  perplexity {:.3f}  {}  {:.1f} s\n", plainNan(result.loss), std::exp(plainNan(result.loss)),
      countOf(result.trainedTokens, "trained token"), result.milliseconds / 1000);
  return Status();
}

} // namespace

void addEvalCommand(CLI::App &app, Command &command, Specializer *compiler) {
  auto options = std::make_shared<Options>();
  CLI::App *eval = app.add_subcommand("eval", "The loss of a checkpoint on packed data");
  addSessionOptions(*eval, options->session);
  eval->add_option("--dump-hidden", options->eval.dumpHidden, "Write every row's hidden states as safetensors")
      ->type_name("DIR");
  eval->add_option("--dump-losses", options->eval.dumpLosses, "Write the loss of every trained token as safetensors")
      ->type_name("DIR");
  eval->callback(
      [options, compiler, &command] { command = [options, compiler] { return qrt::eval(*options, compiler); }; });
}

} // namespace qrt
