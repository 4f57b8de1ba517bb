// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qrun inspect: what a program, a checkpoint or a folder of data holds.
#include "runtime/base/File.h"
#include "runtime/data/Buckets.h"
#include "runtime/data/Checkpoint.h"
#include "runtime/data/Pack.h"
#include "runtime/data/TokenData.h"
#include "runtime/data/TokenText.h"
#include "runtime/program/Program.h"
#include "runtime/program/Report.h"
#include "tools/cli/Numbers.h"
#include "tools/qrun/Command.h"

#include <algorithm>
#include <unistd.h>

namespace qrt {
namespace {

struct Options {
  std::string path;
  std::string tokenizer;
  int64_t row = 0;
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
    say("--- document {}: {} tokens\n", d, end - begin);
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
  say("{}: {} data: {} documents, {} tokens, {} trained ({:.1f} %), vocabulary bound {}\n", options.path,
      dataKindName(manifest.kind), manifest.documents, manifest.tokens, manifest.trainedTokens,
      100.0 * static_cast<double>(manifest.trainedTokens) / static_cast<double>(std::max<int64_t>(manifest.tokens, 1)),
      manifest.vocabularyBound);
  QRT_ASSIGN_OR_RETURN(TokenData data, TokenData::open(options.path, manifest.kind));
  printWarnings(data.warnings());
  TokenRow row;
  if (manifest.kind == DataKind::Packed) {
    say("{}", printPackReport(manifest));
    for (const BucketShape &bucket : chooseBuckets(manifest))
      say("bucket {}\n", printBucket(bucket));
    if (options.row < 0 || options.row >= data.rows())
      return error(StatusCode::InvalidUsage, "--row: expected 0 to {}, got {}", data.rows() - 1, options.row);
    data.readRow(options.row, row);
    say("row {} ({}); trained tokens are marked\n", options.row, printBucket(data.rowShape(options.row)));
  } else if (!data.shards().empty()) {
    const TokenShard &shard = data.shards().front();
    row.documentOffsets = {0};
    shard.append(0, std::min<int64_t>(shard.documents(), 4), row);
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
  say("{}: {} tensors, {} elements, {} files\n", options.path, checkpoint.tensors().size(), elements,
      checkpoint.files().size());
  return Status();
}

Status inspect(const Options &options) {
  if (!pathExists(options.path))
    return error(StatusCode::Io, "{}: no such file or folder", options.path);
  if (isDirectory(options.path))
    return pathExists(joinPath(options.path, "manifest.json")) ? inspectData(options) : inspectCheckpoint(options);
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
  addNumber(*inspect, "--row", options->row, "Data: the row to show");
  addNumber(*inspect, "--max-tokens", options->maxTokens, "Data: tokens to show");
  inspect->add_option("--color", options->color, "Data: auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  inspect->callback([options, &command] { command = [options] { return qrt::inspect(*options); }; });
}

} // namespace qrt
