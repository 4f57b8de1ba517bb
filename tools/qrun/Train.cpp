// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qrun train: trains, reports, and exports a Hugging Face folder.
#include "runtime/base/Digits.h"
#include "runtime/base/File.h"
#include "runtime/train/ExportCheckpoint.h"
#include "runtime/train/TrainLoop.h"
#include "tools/cli/Numbers.h"
#include "tools/qrun/Command.h"
#include "tools/qrun/OptionsFile.h"
#include "tools/qrun/Programs.h"
#include "tools/qrun/StopSignals.h"

#include <csignal>

namespace qrt {
namespace {

/// Learning rates where the command line has none: gentle with a trained model, brisk with a fresh one.
constexpr double kFineTuningRate = 1e-5, kScratchRate = 1e-3;

struct Options {
  SessionArguments session;
  TrainOptions train;
  std::string out, evalData, schedule = "cosine", tokenizer;
  std::optional<double> learningRate;
  std::optional<int64_t> warmup, logEvery;
  bool noShuffle = false;
};

double learningRate(const Options &options) {
  return options.learningRate.value_or(options.session.scratch ? kScratchRate : kFineTuningRate);
}

/// What a run takes where nothing else was asked for, as comments for its options; `warmup`: once it is known.
std::string restOfOptions(const Options &options, std::optional<int64_t> warmup) {
  std::string text;
  if (!options.train.steps && !options.train.epochs)
    text += "# epochs = 1  (without steps)\n";
  if (!options.learningRate)
    text += fmt::format("# lr = {}  ({})\n", learningRate(options),
                        options.session.scratch ? "with scratch" : "with weights");
  if (!options.warmup && warmup)
    text += fmt::format("# warmup = {}  (a tenth of the steps, at most 100)\n", *warmup);
  else if (!options.warmup)
    text += "# warmup: a tenth of the steps, at most 100\n";
  return text;
}

/// What came of a run, in a sentence.
std::string summary(const TrainResult &result, int64_t planned) {
  std::string text = result.interrupted ? fmt::format("stopped after step {} of {}", result.steps, planned)
                                        : fmt::format("trained {}", countOf(result.steps, "step"));
  text += fmt::format(" in {}", clockTime(result.milliseconds));
  if (result.firstLoss)
    text += fmt::format(": loss {:.4f} in the first step, {:.4f} in the last", plainNan(*result.firstLoss),
                        plainNan(*result.lastLoss));
  if (result.evalLoss && !result.interrupted)
    text += fmt::format("{} held-out loss {:.4f} at the end", result.firstLoss ? "," : ":", plainNan(*result.evalLoss));
  if (result.skipped > 0)
    text += fmt::format("; {} changed nothing, the gradients were not finite", countOf(result.skipped, "step"));
  return text;
}

Status runTraining(Options options, Specializer *compiler, const std::string &config) {
  // Whoever reads the output may leave before the run ends: it goes on, and its results are files.
  std::signal(SIGPIPE, SIG_IGN);
  StopSignals stop;
  TrainOptions &train = options.train;
  QRT_ASSIGN_OR_RETURN(train.schedule, parseScheduleKind(options.schedule));
  train.seed = options.session.seed;
  train.shuffle = !options.noShuffle;
  train.learningRate = learningRate(options);
  if (options.warmup)
    train.warmup = *options.warmup;
  QRT_RETURN_IF_ERROR(checkOptions(train));
  if (options.logEvery && *options.logEvery < 1)
    return error(StatusCode::InvalidUsage, "--log-every: expected at least 1, got {}", *options.logEvery);
  if (train.evalEvery > 0 && options.evalData.empty())
    return error(StatusCode::InvalidUsage, "--eval-every: there is no --eval-data to evaluate");
  // What only the export needs must not fail after the last step.
  if (!options.tokenizer.empty()) {
    QRT_ASSIGN_OR_RETURN(std::vector<std::string> files, companionFiles(options.tokenizer));
    if (!holdsTokenizer(files))
      return error(StatusCode::InvalidData,
                   "--tokenizer: {}: there is no tokenizer.json, tokenizer.model or vocab.json", options.tokenizer);
  }
  // Created early, so that an --out that cannot be written is known before the data are read; removed again by a run
  // that fails before it writes.
  QRT_ASSIGN_OR_RETURN(EmptyDirectory out, EmptyDirectory::create(options.out));
  QRT_ASSIGN_OR_RETURN(TokenData data, openPacked("--data", options.session.data));
  std::optional<TokenData> evalData;
  if (!options.evalData.empty()) {
    QRT_ASSIGN_OR_RETURN(evalData, openPacked("--eval-data", options.evalData));
  }
  const TokenData *evalPointer = evalData ? &*evalData : nullptr;
  QRT_ASSIGN_OR_RETURN(int64_t steps, plannedSteps(train, data.rows()));
  QRT_RETURN_IF_ERROR(checkStepsAreTrained(train, data));
  // Long enough to settle the moments, short enough not to matter.
  train.warmup = options.warmup.value_or(std::min<int64_t>(100, (steps + 9) / 10));
  EntryKind kind = train.microBatches > 1 ? EntryKind::Accumulate : EntryKind::Step;
  std::vector<RowsToRun> rows = {{data, kind}};
  if (evalData)
    rows.push_back({*evalData, EntryKind::Eval});
  QRT_ASSIGN_OR_RETURN(OpenSession open, openSession(options.session, rows, compiler));

  say("data: {}, {}, {} trained; {} of {}\n", countOf(data.rows(), "row"),
      countOf(data.manifest().tokens, "real token"), groupDigits(data.manifest().trainedTokens), countOf(steps, "step"),
      countOf(train.microBatches, "row"));
  say("lr {} ({}, warm-up {}), betas {} {}, eps {}, weight decay {}, clip {}, seed {}\n", train.learningRate,
      options.schedule, countOf(train.warmup, "step"), train.beta1, train.beta2, train.eps, train.weightDecay,
      train.clip, train.seed);
  QRT_RETURN_IF_ERROR(
      writeFileAtomically(joinPath(options.out, "config.toml"), config + restOfOptions(options, train.warmup)));
  std::string metricsPath = joinPath(options.out, "metrics.jsonl");
  QRT_ASSIGN_OR_RETURN(MetricsFile metrics, MetricsFile::create(metricsPath));
  Progress progress(stdout, steps, options.logEvery);
  progress.begin(metricsPath);

  train.choicesFile = joinPath(options.out, "products.json");
  stop.arm();
  double begin = open.startUp.milliseconds();
  QRT_ASSIGN_OR_RETURN(TrainResult result,
                       qrt::train(*open.session, data, evalPointer, train, metrics, progress, stop.requested()));
  if (result.firstLoss)
    say("the first step was done {:.1f} s after the start\n", (begin + result.firstStepMilliseconds) / 1000);
  say("{}\n", summary(result, steps));

  std::string checkpoint = joinPath(options.out, "checkpoint");
  ExportOptions exports;
  exports.source = open.source ? &*open.source : nullptr;
  exports.tokenizer = options.tokenizer;
  QRT_RETURN_IF_ERROR(exportCheckpoint(*open.session, checkpoint, exports));
  QRT_ASSIGN_OR_RETURN(std::vector<std::string> companions, companionFiles(checkpoint));
  say("checkpoint: {}{}\n", checkpoint, holdsTokenizer(companions) ? "" : ", without a tokenizer (--tokenizer DIR)");
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    printWarnings({fmt::format("standard output: not all could be written; the checkpoint is {}", checkpoint)});
    std::clearerr(stdout);
  }
  return Status();
}

} // namespace

void addTrainCommand(CLI::App &app, Command &command, Specializer *compiler) {
  auto options = std::make_shared<Options>();
  TrainOptions &t = options->train;
  CLI::App *train = app.add_subcommand("train", "Train a model and export it");
  auto printConfig = std::make_shared<bool>(false);
  train->add_flag("--print-config", *printConfig, "Print the options as TOML and end")->configurable(false);
  addSessionOptions(*train, options->session);
  train->add_flag("--scratch", options->session.scratch, "Begin with the model's initial values instead of --weights")
      ->excludes("--weights");
  train->add_option("--out", options->out, "The run's folder; it must not exist or be empty")
      ->required()
      ->type_name("DIR");
  addNumber(*train, "--micro-batches", t.microBatches, "Rows of a step; their gradients are added up in f32");
  CLI::Option *steps = addNumber(*train, "--steps", t.steps, "Steps of the run");
  addNumber(*train, "--epochs", t.epochs, "Times through the data (one, without --steps)")->excludes(steps);
  addNumber(*train, "--lr", options->learningRate, "Peak learning rate (1e-5 with --weights, 1e-3 with --scratch)");
  train->add_option("--schedule", options->schedule, "constant, linear or cosine")
      ->capture_default_str()
      ->type_name("NAME");
  addNumber(*train, "--warmup", options->warmup, "Steps of linear warm-up (a tenth of the run, at most 100)");
  addNumber(*train, "--beta1", t.beta1, "AdamW: how much of its mean of gradients a step keeps");
  addNumber(*train, "--beta2", t.beta2, "AdamW: how much of its mean of squared gradients a step keeps");
  addNumber(*train, "--eps", t.eps, "AdamW: added to the root of that mean, which a step divides by");
  addNumber(*train, "--weight-decay", t.weightDecay, "AdamW: of parameters of two or more dimensions");
  addNumber(*train, "--clip", t.clip, "Global norm that gradients are scaled to where they exceed it; 0: never");
  addNumber(*train, "--seed", options->session.seed, "Of the shuffle, of initial values and of stochastic rounding");
  train->add_flag("--no-shuffle", options->noShuffle, "Take the rows in the order of the data");
  train->add_option("--eval-data", options->evalData, "Packed data that is held out")->type_name("DIR");
  addNumber(*train, "--eval-every", t.evalEvery, "Evaluate every so many steps, not only at the end");
  addNumber(*train, "--log-every", options->logEvery,
            "A line every so many steps (each of a short run, else about a hundred, at least one in 10 s)");
  train->add_option("--tokenizer", options->tokenizer, "A folder whose tokenizer and template go into the checkpoint")
      ->type_name("DIR");
  train->add_option("--dump-grads", t.dumpGrads, "Write every step's gradients as safetensors")->type_name("DIR");
  train
      ->add_option("--trace", t.traceFile,
                   "Record the last step (of several rows the first), for ui.perfetto.dev or chrome://tracing")
      ->type_name("FILE");
  train->callback([options, printConfig, train, compiler, &command] {
    std::string config = optionsText(*train);
    if (*printConfig)
      command = [options, config] {
        say("{}{}", config, restOfOptions(*options, std::nullopt));
        return Status();
      };
    else
      command = [options, compiler, config] { return runTraining(*options, compiler, config); };
  });
}

} // namespace qrt
