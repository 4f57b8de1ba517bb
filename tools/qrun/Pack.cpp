// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qrun pack: token data, or JSON lines of token ids, into rows of whole documents.
#include "runtime/data/Pack.h"

#include "runtime/base/Digits.h"
#include "runtime/base/File.h"
#include "runtime/data/Jsonl.h"
#include "tools/cli/Numbers.h"
#include "tools/cli/PathKind.h"
#include "tools/qrun/Command.h"

#include <limits>
#include <unistd.h>

namespace qrt {
namespace {

struct Options {
  std::vector<std::string> sources;
  std::string out;
  std::string overflow;
  std::optional<int64_t> vocabulary;
  PackOptions pack;
};

/// Where token data imported from JSON lines lies until it is packed: beside the result.
class TemporaryTokens {
public:
  explicit TemporaryTokens(std::string out) {
    while (out.size() > 1 && out.ends_with('/'))
      out.pop_back();
    path_ = fmt::format("{}.tokens-{}", out, ::getpid());
  }
  /// Only what was made here is removed.
  ~TemporaryTokens() {
    if (made_)
      (void)removeFlatDirectory(path_);
  }
  Status make() {
    if (pathExists(path_))
      return error(StatusCode::InvalidUsage, "{}: is there, but the imported tokens need this name", path_);
    made_ = true;
    return Status();
  }
  const std::string &path() const { return path_; }

private:
  std::string path_;
  bool made_ = false;
};

Status packDirectory(const std::string &tokens, const Options &options,
                     const std::optional<PackSource> &source = std::nullopt) {
  QRT_ASSIGN_OR_RETURN(TokenData data, TokenData::open(tokens, DataKind::Tokens));
  printWarnings(data.warnings());
  QRT_ASSIGN_OR_RETURN(PackResult packed, packTokens(data, options.out, options.pack, source));
  say("{}", printPackReport(packed.manifest));
  printWarnings(packed.warnings);
  return Status();
}

Status packJsonLines(const Options &options) {
  TemporaryTokens tokens(options.out);
  QRT_RETURN_IF_ERROR(tokens.make());
  JsonlOptions jsonl;
  jsonl.vocabularyBound = options.vocabulary;
  QRT_ASSIGN_OR_RETURN(JsonlImport imported, importJsonl(options.sources, tokens.path(), jsonl));
  printWarnings(imported.warnings);
  if (imported.firstTargets > 0)
    say("{} of a document's first token left out: nothing before it predicts it\n",
        countOf(imported.firstTargets, "label"));
  // The files that people know, not the folder in between.
  auto documentName = [&](int64_t document) {
    auto [file, line] = imported.places[static_cast<size_t>(document)];
    return fmt::format("{}:{}", options.sources[file], line);
  };
  return packDirectory(tokens.path(), options,
                       PackSource{fmt::format("{}", fmt::join(options.sources, ", ")), documentName});
}

Status checkRange(const char *option, int64_t value, int64_t most) {
  if (value < 1 || value > most)
    return error(StatusCode::InvalidUsage, "{}: expected 1 to {}, got {}", option, most, value);
  return Status();
}

Status pack(Options options) {
  if (!options.overflow.empty()) {
    QRT_ASSIGN_OR_RETURN(Overflow overflow, parseOverflow(options.overflow));
    options.pack.overflow = overflow;
  }
  QRT_RETURN_IF_ERROR(checkRange("--seq-len", options.pack.rowLength, BucketShape::kMaxTokens));
  QRT_RETURN_IF_ERROR(checkRange("--naive-batch", options.pack.naiveBatch, std::numeric_limits<int64_t>::max()));
  QRT_RETURN_IF_ERROR(checkRange("--vocabulary", options.vocabulary.value_or(1), BucketShape::kMaxTokens));
  for (const std::string &source : options.sources) {
    PathKind kind = pathKind(source);
    if (kind == PathKind::Missing)
      return checkReadable(source);
    // A damaged manifest is said by its reader.
    bool tokens = kind == PathKind::Tokens || (isDirectory(source) && pathExists(joinPath(source, "manifest.json")));
    if (kind == PathKind::Packed || (isDirectory(source) && !tokens))
      return error(StatusCode::InvalidUsage, "{}",
                   expectedPath(source, "a folder of token data or files of JSON lines"));
    if (tokens && options.sources.size() > 1)
      return error(StatusCode::InvalidUsage, "{}: a folder of token data is packed alone, got {} with it", source,
                   countOf(static_cast<int64_t>(options.sources.size()) - 1, "other source"));
  }
  if (!isDirectory(options.sources.front()))
    return packJsonLines(options);
  if (options.vocabulary)
    return error(StatusCode::InvalidUsage, "--vocabulary goes with JSON lines: {} has a manifest that says it",
                 options.sources.front());
  return packDirectory(options.sources.front(), options);
}

} // namespace

void addPackCommand(CLI::App &app, Command &command) {
  auto options = std::make_shared<Options>();
  CLI::App *pack = app.add_subcommand("pack", "Arrange documents in rows of one length, without padding in between");
  pack->add_option("source", options->sources, "A folder of token data, or JSON-lines files with input_ids and labels")
      ->required()
      ->type_name("TOKENS");
  pack->add_option("--out", options->out, "The folder to write; it must not exist or be empty")
      ->required()
      ->type_name("DIR");
  addNumber(*pack, "--seq-len", options->pack.rowLength, "Tokens a row can hold");
  pack->add_option("--overflow", options->overflow,
                   "What happens to a document longer than a row: drop, cut or split. Without it that is an error");
  addNumber(*pack, "--seed", options->pack.seed, "Shuffle the documents before packing");
  addNumber(*pack, "--naive-batch", options->pack.naiveBatch,
            "Documents in the padded batches that the report compares with");
  addNumber(*pack, "--vocabulary", options->vocabulary, "JSON lines: every id must be below it");
  pack->callback([options, &command] { command = [options] { return qrt::pack(*options); }; });
}

} // namespace qrt
