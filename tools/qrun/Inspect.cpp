// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qrun inspect: what a program, a checkpoint or a folder of data holds.
#include "runtime/base/Digits.h"
#include "runtime/base/File.h"
#include "runtime/data/Buckets.h"
#include "runtime/data/Checkpoint.h"
#include "runtime/data/Pack.h"
#include "runtime/data/TokenData.h"
#include "runtime/data/TokenText.h"
#include "runtime/program/Program.h"
#include "runtime/program/Report.h"
#include "tools/cli/Numbers.h"
#include "tools/cli/PathKind.h"
#include "tools/qrun/Command.h"

#include <algorithm>
#include <unistd.h>

namespace qrt {
namespace {

struct Options {
  std::string path;
  std::string tokenizer;
  std::optional<int64_t> row;
  int64_t maxTokens = 400;
  bool instructions = false;
  std::string color = "auto";
};

constexpr const char *kTrainedColor = "\x1b[1;32m", *kPlainColor = "\x1b[2m", *kReset = "\x1b[0m";

/// Prints the first tokens of a row, document by document: trained tokens in colour, or in brackets where there is
/// none.
Status printRow(const TokenRow &row, const Options &options) {
  std::optional<TokenText> tokenizer;
  if (!options.tokenizer.empty()) {
    QRT_ASSIGN_OR_RETURN(tokenizer, TokenText::open(options.tokenizer));
  }
  bool color = options.color == "always" || (options.color == "auto" && isatty(STDOUT_FILENO));
  int64_t left = options.maxTokens;
  for (int64_t d = 0; d < row.documents() && left > 0; ++d) {
    auto begin = static_cast<size_t>(row.documentOffsets[static_cast<size_t>(d)]);
    auto end = static_cast<size_t>(row.documentOffsets[static_cast<size_t>(d) + 1]);
    say("--- document {}: {}\n", d, countOf(static_cast<int64_t>(end - begin), "token"));
    bool open = false;
    for (size_t t = begin; t < end && left > 0; ++t, --left) {
      bool trained = row.lossMask[t] != 0;
      if (t == begin || trained != (row.lossMask[t - 1] != 0)) {
        if (color)
          say("{}{}", kReset, trained ? kTrainedColor : kPlainColor);
        else if (trained || open)
          say("{}", trained ? "[[" : "]]");
        open = trained;
      }
      if (tokenizer)
        say("{}", tokenizer->text(row.ids[t]));
      else
        say("{} ", row.ids[t]);
    }
    say("{}\n", color ? kReset : open ? "]]" : "");
  }
  if (left == 0)
    say("... (--max-tokens shows more)\n");
  return Status();
}

Status inspectData(const Options &options) {
  QRT_ASSIGN_OR_RETURN(Manifest manifest, readManifest(options.path));
  bool packed = manifest.kind == DataKind::Packed;
  if (options.row && !packed)
    return error(StatusCode::InvalidUsage, "--row: {} is token data, which has no rows before `qrun pack {} --out DIR`",
                 options.path, options.path);
  if (int64_t row = options.row.value_or(0); packed && (row < 0 || row >= manifest.rows))
    return error(StatusCode::InvalidUsage, "--row: {} has rows 0 to {}, got {}", options.path, manifest.rows - 1, row);
  QRT_ASSIGN_OR_RETURN(TokenData data, TokenData::open(options.path, manifest.kind));
  say("{}: {}: {}, {}, {} trained ({:.1f} %), vocabulary bound {}\n", options.path,
      packed ? "packed data" : "token data, not packed yet", countOf(manifest.documents, "document"),
      countOf(manifest.tokens, "token"), groupDigits(manifest.trainedTokens),
      100.0 * static_cast<double>(manifest.trainedTokens) / static_cast<double>(std::max<int64_t>(manifest.tokens, 1)),
      manifest.vocabularyBound);
  printWarnings(data.warnings());
  TokenRow row;
  if (packed) {
    say("{}", printPackReport(manifest));
    for (const BucketShape &bucket : chooseBuckets(manifest))
      say("bucket {}\n", printBucket(bucket));
    data.readRow(options.row.value_or(0), row);
    say("row {} ({}); trained tokens are marked\n", options.row.value_or(0),
        printBucket(data.rowShape(options.row.value_or(0))));
  } else {
    say("`qrun pack {} --out packed/` arranges it in rows, which is what `qrun train` takes\n", options.path);
    const TokenShard &shard = data.shards().front();
    row.documentOffsets = {0};
    shard.append(0, std::min<int64_t>(shard.documents(), 4), row);
    say("the first documents; trained tokens are marked\n");
  }
  return printRow(row, options);
}

Status inspectCheckpoint(const Options &options) {
  QRT_ASSIGN_OR_RETURN(CheckpointReader checkpoint, CheckpointReader::open(options.path));
  int64_t elements = 0;
  for (const TensorSpec &tensor : checkpoint.tensors()) {
    int64_t count = 1;
    for (int64_t extent : tensor.shape)
      count *= extent;
    elements += count;
    say("{:8} [{}] {}\n", dtypeName(tensor.dtype), fmt::join(tensor.shape, ", "), tensor.name);
  }
  say("{}: {}, {}, {}\n", options.path, countOf(static_cast<int64_t>(checkpoint.tensors().size()), "tensor"),
      countOf(elements, "element"), countOf(static_cast<int64_t>(checkpoint.files().size()), "file"));
  return Status();
}

/// Options that say nothing about what is inspected are mistakes.
Status checkApplies(const Options &options, bool isProgram, bool isData) {
  const struct {
    const char *name;
    bool given, applies;
    const char *expected;
  } checks[] = {{"--instructions", options.instructions, isProgram, "a program"},
                {"--row", options.row.has_value(), isData, "packed data"},
                {"--tokenizer", !options.tokenizer.empty(), isData, "data"}};
  for (const auto &check : checks)
    if (check.given && !check.applies)
      return error(StatusCode::InvalidUsage, "{}: goes with {}, got {} ({})", check.name, check.expected,
                   describe(pathKind(options.path)), options.path);
  return Status();
}

/// What qrun inspect does not show says what does.
Status notInspected(const std::string &path) {
  std::string hint, checkpoint = joinPath(path, "checkpoint");
  switch (pathKind(path)) {
  case PathKind::Run:
    hint = pathExists(checkpoint) ? fmt::format("; its checkpoint is {}", checkpoint)
                                  : "; it has no checkpoint: that is written when the run ends";
    break;
  case PathKind::Module:
    hint = fmt::format("; it is text to read as it is, and `qcc build {} --data packed/ -o model.qprog` makes a "
                       "program of it",
                       path);
    break;
  case PathKind::Folder:
    if (StatusOr<std::vector<std::string>> names = listDirectory(path); names.ok() && names->empty())
      hint = " with nothing in it";
    else
      hint = " without manifest.json, config.json or *.safetensors";
    break;
  case PathKind::Safetensors:
  case PathKind::Json:
    hint = "; take the folder that it lies in";
    break;
  case PathKind::JsonLines:
    hint = fmt::format("; `qrun pack {} --out packed/` packs token ids, tools/tokenize.py makes them of chats", path);
    break;
  default:
    break;
  }
  return error(StatusCode::InvalidUsage, "{}{}",
               expectedPath(path, "a program (.qprog), a checkpoint's folder, tokens/ or packed/"), hint);
}

Status inspect(const Options &options) {
  PathKind kind = pathKind(options.path);
  if (kind == PathKind::Missing)
    return error(StatusCode::Io, "{}: no such file or folder", options.path);
  auto has = [&](const char *name) { return pathExists(joinPath(options.path, name)); };
  // Those that are damaged too: their readers say what is wrong.
  bool isData = isDirectory(options.path) && has("manifest.json"), isProgram = kind == PathKind::Program;
  QRT_RETURN_IF_ERROR(checkApplies(options, isProgram, isData));
  if (isData)
    return inspectData(options);
  if (kind == PathKind::HuggingFace || has("model.safetensors") || has("model.safetensors.index.json"))
    return inspectCheckpoint(options);
  if (!isProgram)
    return notInspected(options.path);
  QRT_ASSIGN_OR_RETURN(Program program, Program::open(options.path));
  say("{}", programReport(program, options.instructions));
  return Status();
}

} // namespace

void addInspectCommand(CLI::App &app, Command &command) {
  auto options = std::make_shared<Options>();
  CLI::App *inspect = app.add_subcommand("inspect", "Show what a program, a checkpoint or a folder of data holds");
  inspect->add_option("path", options->path, "A .qprog, a Hugging Face folder, tokens/ or packed/")->required();
  inspect->add_flag("--instructions", options->instructions, "Programs: list every instruction");
  inspect->add_option("--tokenizer", options->tokenizer, "Data: show text, by DIR/tokenizer.json")->type_name("DIR");
  addNumber(*inspect, "--row", options->row, "Packed data: the row to show (the first)");
  addNumber(*inspect, "--max-tokens", options->maxTokens, "Data: tokens to show");
  inspect->add_option("--color", options->color, "Data: auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  inspect->callback([options, &command] { command = [options] { return qrt::inspect(*options); }; });
}

} // namespace qrt
