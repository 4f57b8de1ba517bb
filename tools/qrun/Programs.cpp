// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qrun/Programs.h"

#include "models/qwen/Config.h"
#include "runtime/base/Digits.h"
#include "runtime/base/File.h"
#include "runtime/base/Stopwatch.h"
#include "runtime/data/Buckets.h"
#include "runtime/train/Initialize.h"
#include "tools/cli/MemorySize.h"
#include "tools/cli/Numbers.h"
#include "tools/cli/PathKind.h"
#include "tools/qrun/Command.h"

#include <algorithm>
#include <cassert>

namespace qrt {

void addSessionOptions(CLI::App &command, SessionArguments &arguments) {
  command.add_option("--program", arguments.program, "A .qprog, or a .mlir to compile for the data")
      ->required()
      ->type_name("FILE");
  command.add_option("--data", arguments.data, "Packed data")->required()->type_name("DIR");
  command.add_option("--weights", arguments.weights, "A Hugging Face folder with the weights to begin with")
      ->type_name("HF_DIR");
  command.add_flag("--no-compile", arguments.noCompile, "A bucket that the program lacks is an error");
  command
      .add_option("--states", arguments.compile.states,
                  "With a .mlir: optimizer states of bf16 weights, f32 (master and moments; default) or bf16")
      ->type_name("TYPE");
  command
      .add_option("--remat", arguments.compile.remat,
                  "With a .mlir: what the backward pass computes again, none (default), memory-bound, or budget, what "
                  "--memory needs (default with it)")
      ->type_name("POLICY");
  command
      .add_option("--target", arguments.compile.target,
                  "With a .mlir: what runs it, cpu or sm_90a (default: the dump's, else cpu)")
      ->type_name("NAME");
  command
      .add_option(
          "--memory", arguments.memory,
          "What the run may take of the device's memory, like 80GiB or 141GB (what there is); with a .mlir also "
          "what it is built for: what does not fit is computed again")
      ->type_name("AMOUNT");
  addDeviceOptions(command, arguments.device);
}

StatusOr<TokenData> openPacked(const std::string &option, const std::string &directory) {
  QRT_RETURN_IF_ERROR(checkPacked(option, directory));
  QRT_ASSIGN_OR_RETURN(TokenData data, TokenData::open(directory, DataKind::Packed));
  printWarnings(data.warnings());
  return data;
}

/// What is no program says which command makes one of it.
static Status checkProgram(const std::string &path) {
  std::string hint;
  switch (pathKind(path)) {
  case PathKind::Missing:
  case PathKind::File:
  case PathKind::Program:
  case PathKind::Module:
    return checkReadable(path).withContext("--program");
  case PathKind::HuggingFace:
    hint = fmt::format("; `qcc import {} -o model.mlir` makes a module of it", path);
    break;
  case PathKind::Packed:
    hint = "; that goes with --data";
    break;
  default:
    break;
  }
  return error(StatusCode::InvalidUsage, "--program: {}{}",
               expectedPath(path, "a program (.qprog) or a module (.mlir)"), hint);
}

/// What holds no weights says where they are.
static Status checkWeights(const std::string &path) {
  std::string hint;
  switch (pathKind(path)) {
  case PathKind::Missing:
    return checkReadable(path).withContext("--weights");
  case PathKind::HuggingFace:
  case PathKind::Folder:
    return Status();
  case PathKind::Run:
    hint = fmt::format("; its checkpoint is {}", joinPath(path, "checkpoint"));
    break;
  case PathKind::Safetensors:
  case PathKind::Json:
    hint = "; take the folder that it lies in";
    break;
  default:
    break;
  }
  return error(StatusCode::InvalidUsage, "--weights: {}{}", expectedPath(path, "a Hugging Face folder"), hint);
}

/// Buckets for those rows of a manifest that are run: all, or the first. That one has the bucket that it would have
/// among all.
static std::vector<BucketShape> bucketsToRun(const Manifest &manifest, const RowsToRun &rows) {
  std::vector<BucketShape> buckets = chooseBuckets(manifest);
  if (!rows.onlyFirst)
    return buckets;
  StatusOr<size_t> first = findBucket(buckets, rows.data.rowShape(0));
  assert(first.ok() && "the first row is in the manifest");
  return {buckets[*first]};
}

static StatusOr<Program> openProgram(const SessionArguments &arguments, std::optional<int64_t> memory,
                                     const RowsToRun &rows, Specializer *compiler) {
  if (!arguments.program.ends_with(".mlir")) {
    if (!arguments.compile.states.empty() || !arguments.compile.remat.empty() || !arguments.compile.target.empty())
      return error(StatusCode::InvalidUsage,
                   "--states, --remat and --target are choices of a build: {} is built already", arguments.program);
    return Program::open(arguments.program);
  }
  if (!compiler)
    return error(StatusCode::Unsupported, "{}: this qrun has no compiler; `qcc build` makes a program of it",
                 arguments.program);
  CompileOptions choices = arguments.compile;
  choices.memory = memory;
  QRT_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes,
                       compiler->compile(arguments.program, bucketsToRun(rows.data.manifest(), rows), choices));
  return Program::fromBytes(std::move(bytes), arguments.program);
}

static Status checkVocabulary(const Program &program, const TokenData &data) {
  if (data.manifest().vocabularyBound > program.vocabulary())
    return error(StatusCode::InvalidData, "{}: its tokenizer has {} ids, more than the model's vocabulary of {} ({})",
                 data.directory(), data.manifest().vocabularyBound, program.vocabulary(), program.source());
  return Status();
}

/// Whether one of the programs has a bucket for a row.
static bool takesRow(std::span<const Program> programs, EntryKind kind, const BucketShape &row) {
  return std::any_of(programs.begin(), programs.end(), [&](const Program &program) {
    return std::any_of(program.entries().begin(), program.entries().end(),
                       [&](const Entry &entry) { return entry.kind == kind && entry.bucket.holds(row); });
  });
}

/// Which of the rows that are run none of the programs has a bucket for: the data's manifest without the others.
static Manifest missingRows(std::span<const Program> programs, const RowsToRun &rows) {
  if (rows.onlyFirst && takesRow(programs, rows.kind, rows.data.rowShape(0)))
    return Manifest();
  Manifest missing = rows.data.manifest();
  for (ShardManifest &shard : missing.shards)
    std::erase_if(shard.rows, [&](const BucketShape &row) { return takesRow(programs, rows.kind, row); });
  return missing;
}

static int64_t countRows(const Manifest &manifest) {
  int64_t rows = 0;
  for (const ShardManifest &shard : manifest.shards)
    rows += static_cast<int64_t>(shard.rows.size());
  return rows;
}

/// Names buckets for everything that is run: those that are missing alone would be a program that lacks the others.
static Status missingBuckets(const Program &program, std::span<const RowsToRun> all, const RowsToRun &rows,
                             int64_t missing) {
  std::vector<std::string> buckets;
  for (const RowsToRun &each : all)
    for (const BucketShape &bucket : chooseBuckets(each.data.manifest()))
      if (std::string name = printBucket(bucket); std::find(buckets.begin(), buckets.end(), name) == buckets.end())
        buckets.push_back(name);
  // As an option of a build there is one folder.
  std::string data = all.size() == 1 ? fmt::format("--data {} or ", rows.data.directory()) : "";
  std::string which = rows.onlyFirst                ? "its first row"
                      : missing == rows.data.rows() ? "any of its rows"
                                                    : fmt::format("{} of its {} rows", missing, rows.data.rows());
  return error(StatusCode::Unsupported, "{}: the program {} has no bucket for {}: build it with {}--buckets {}",
               rows.data.directory(), program.source(), which, data, fmt::join(buckets, ","));
}

/// Compiles programs for the rows that `programs`, one program as yet, does not take, before memory is reserved for all
/// of them.
static Status compileMissing(std::vector<Program> &programs, std::span<const RowsToRun> all, Specializer *compiler) {
  for (const RowsToRun &rows : all) {
    Manifest missing = missingRows(programs, rows);
    int64_t count = countRows(missing);
    if (count == 0)
      continue;
    if (!compiler)
      return missingBuckets(programs.front(), all, rows, count);
    for (const BucketShape &bucket : bucketsToRun(missing, rows)) {
      std::string name = printBucket(bucket);
      Stopwatch watch;
      QRT_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, compiler->specialize(programs.front(), bucket));
      QRT_ASSIGN_OR_RETURN(Program program, Program::fromBytes(std::move(bytes), "the program for bucket " + name));
      programs.push_back(std::move(program));
      say("compiled bucket {} in {:.0f} ms: the program did not have it\n", name, watch.milliseconds());
    }
  }
  return Status();
}

/// Tensors of the right shapes do not make it the same model: theta, eps and the tied flag are in no shape, and the
/// export keeps the checkpoint's own config.json.
static Status checkSameModel(const Program &program, const std::string &weights) {
  std::string path = joinPath(weights, "config.json");
  if (!pathExists(path))
    return Status();
  QRT_ASSIGN_OR_RETURN(Json json, readJsonFile(path));
  QRT_ASSIGN_OR_RETURN(qcc::qwen::Config ours, qcc::qwen::parseConfig(json, path));
  std::string source = program.source() + ", its model";
  QRT_ASSIGN_OR_RETURN(Json built, parseJson(program.modelConfig(), source));
  QRT_ASSIGN_OR_RETURN(qcc::qwen::Config theirs, qcc::qwen::parseConfig(built, source));
  return qcc::qwen::checkSameMathematics(theirs, ours, path);
}

/// A program for longer rows runs this data too, but computes every token of its buckets.
static void warnOfUnusedTokens(const Program &program, EntryKind kind, const TokenData &data) {
  int64_t least = 0;
  for (const Entry &entry : program.entries())
    if (entry.kind == kind && (least == 0 || entry.bucket.tokens < least))
      least = entry.bucket.tokens;
  int64_t rowLength = data.manifest().rowLength;
  if (least > rowLength)
    printWarnings(
        {fmt::format("the rows of {} have {}, the smallest bucket of {} {}: the rest is computed for "
                     "nothing; `qcc build --data {}` builds what fits",
                     data.directory(), countOf(rowLength, "token"), program.source(), least, data.directory())});
}

static bool hasBf16(const Program &program) {
  auto isBf16 = [](const Slice &slice) { return slice.shape.dtype == DType::BF16; };
  return std::any_of(program.entries().begin(), program.entries().end(),
                     [&](const Entry &entry) { return std::any_of(entry.slices.begin(), entry.slices.end(), isBf16); });
}

StatusOr<OpenSession> openSession(const SessionArguments &arguments, std::span<const RowsToRun> rows,
                                  Specializer *compiler) {
  const TokenData &data = rows.front().data;
  EntryKind kind = rows.front().kind;
  if (kind == EntryKind::Eval && arguments.weights.empty())
    return error(StatusCode::InvalidUsage, "expected --weights HF_DIR: what to evaluate");
  if (arguments.weights.empty() != arguments.scratch)
    return error(StatusCode::InvalidUsage, "expected --weights HF_DIR or --scratch, one of the two");
  QRT_RETURN_IF_ERROR(checkProgram(arguments.program));
  if (!arguments.scratch)
    QRT_RETURN_IF_ERROR(checkWeights(arguments.weights));
  std::optional<int64_t> memory;
  if (!arguments.memory.empty()) {
    QRT_ASSIGN_OR_RETURN(memory, parseMemory(arguments.memory));
  }
  OpenSession open;
  QRT_ASSIGN_OR_RETURN(Program program, openProgram(arguments, memory, rows.front(), compiler));
  open.startUp.part("program");
  for (const RowsToRun &each : rows)
    QRT_RETURN_IF_ERROR(checkVocabulary(program, each.data));

  QRT_ASSIGN_OR_RETURN(std::unique_ptr<Device> device, openDevice(program, arguments.device));
  open.startUp.part("device");
  say("program {}: {}, buckets", program.source(),
      countOf(static_cast<int64_t>(program.parameters().size()), "parameter"));
  for (const Entry &entry : program.entries())
    if (entry.kind == EntryKind::Step)
      say(" {}", printBucket(entry.bucket));
  say("\ndevice: {}{}\n", device->description(), hasBf16(program) ? ", " + device->bf16Description() : "");

  std::vector<Program> programs;
  programs.push_back(std::move(program));
  warnOfUnusedTokens(programs.front(), kind, data);
  Specializer *specializer = arguments.noCompile ? nullptr : compiler;
  QRT_RETURN_IF_ERROR(compileMissing(programs, rows, specializer));
  SessionOptions options;
  options.memoryLimit = memory.value_or(0);
  options.accumulate = kind == EntryKind::Accumulate;
  options.specializer = specializer;
  if (programs.size() > 1)
    open.startUp.part("compile");
  QRT_ASSIGN_OR_RETURN(open.session, Session::create(std::move(programs), std::move(device), options));
  open.startUp.partOfNext("reserve", open.session->reserveMilliseconds());
  open.startUp.part("prepare");
  say("memory reserved: {}\n", printBytes(totalBytes(open.session->device().reserved())));

  if (arguments.scratch) {
    QRT_RETURN_IF_ERROR(initializeWeights(*open.session, arguments.seed));
  } else {
    QRT_ASSIGN_OR_RETURN(open.source, WeightSource::open(open.session->program(), arguments.weights));
    QRT_RETURN_IF_ERROR(checkSameModel(open.session->program(), arguments.weights));
    for (const std::string &tensor : open.source->passedThrough())
      say("passed through: {}\n", tensor);
    QRT_RETURN_IF_ERROR(loadWeights(*open.session, *open.source));
  }
  open.startUp.part("weights");
  say("{}{}\n", deviceMemoryReport(*open.session),
      open.startUp.report(open.session->device().preparation(), compiler ? compiler->compiledFunctions() : 0));
  return open;
}

} // namespace qrt
