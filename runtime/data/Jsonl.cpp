// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Jsonl.h"

#include "runtime/base/Digits.h"
#include "runtime/base/File.h"
#include "runtime/base/IgnoredLabel.h"
#include "runtime/base/Json.h"
#include "runtime/data/TokenDataWriter.h"

#include <algorithm>

namespace qrt {

namespace {

/// A document of some ten million tokens.
constexpr JsonLimits kLineLimits = {.maxBytes = int64_t{512} << 20, .maxValues = int64_t{32} << 20};

} // namespace

StatusOr<bool> JsonlReader::next(JsonlDocument &document) {
  std::string_view text;
  do {
    if (rest_.empty())
      return false;
    size_t end = std::min(rest_.find('\n'), rest_.size());
    text = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
  } while (text.find_first_not_of(" \t\r") == std::string_view::npos);

  std::string place = fmt::format("{}:{}", source_, line_);
  QRT_ASSIGN_OR_RETURN(Json json, parseJson(text, place, kLineLimits));
  QRT_ASSIGN_OR_RETURN(JsonObject object, JsonObject::root(json, place));
  if (!object.has("input_ids") && object.has("messages"))
    return error(StatusCode::InvalidData,
                 "{}: expected token ids (input_ids and labels), got a chat: tools/tokenize.py makes token data of it",
                 place);
  QRT_ASSIGN_OR_RETURN(std::vector<int64_t> ids, object.integers("input_ids", 0, vocabularyBound_ - 1));
  QRT_ASSIGN_OR_RETURN(std::vector<int64_t> labels, object.integers("labels"));
  if (labels.size() != ids.size())
    return object.fail("labels", fmt::format("expected one for each of {} ids, got {}", ids.size(), labels.size()));
  if (object.has("attention_mask")) {
    QRT_ASSIGN_OR_RETURN(std::vector<int64_t> attended, object.integers("attention_mask"));
    if (attended != std::vector<int64_t>(ids.size(), 1))
      return object.fail("attention_mask",
                         fmt::format("expected {} ones: samples must come without padding", ids.size()));
  }
  document.ids.resize(ids.size());
  document.lossMask.resize(ids.size());
  document.firstWasTarget = false;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (labels[i] != ids[i] && labels[i] != kIgnoredLabel)
      return object.fail(fmt::format("labels[{}]", i),
                         fmt::format("expected input_ids[{}] = {} or {}, got {} (labels must not be shifted)", i,
                                     ids[i], kIgnoredLabel, labels[i]));
    document.ids[i] = static_cast<int32_t>(ids[i]);
    document.lossMask[i] = labels[i] != kIgnoredLabel;
  }
  if (!ids.empty() && document.lossMask[0]) {
    document.lossMask[0] = 0;
    document.firstWasTarget = true;
  }
  return true;
}

StatusOr<JsonlImport> importJsonl(const std::vector<std::string> &paths, const std::string &directory,
                                  const JsonlOptions &options) {
  TokenDataWriterOptions output;
  output.vocabularyBound = options.vocabularyBound;
  output.tokenizerSha256 = options.tokenizerSha256;
  output.shardTokens = options.shardTokens;
  QRT_ASSIGN_OR_RETURN(TokenDataWriter writer, TokenDataWriter::create(directory, output));
  JsonlImport result;
  JsonlDocument document;
  for (size_t f = 0; f < paths.size(); ++f) {
    const std::string &path = paths[f];
    QRT_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
    std::string_view text(reinterpret_cast<const char *>(file.bytes().data()), file.bytes().size());
    JsonlReader reader(text, path, options.vocabularyBound.value_or(BucketShape::kMaxTokens));
    int64_t empty = 0;
    int64_t firstEmpty = 0;
    while (true) {
      QRT_ASSIGN_OR_RETURN(bool more, reader.next(document));
      if (!more)
        break;
      result.firstTargets += document.firstWasTarget;
      if (!document.ids.empty()) {
        QRT_RETURN_IF_ERROR(writer.addDocument(document.ids, document.lossMask));
        result.places.emplace_back(f, reader.line());
        continue;
      }
      if (empty++ == 0)
        firstEmpty = reader.line();
    }
    if (empty > 0)
      result.warnings.push_back(
          fmt::format("{}: skipped {}, the first in line {}", path, countOf(empty, "empty document"), firstEmpty));
    result.emptyDocuments += empty;
  }
  if (result.places.empty())
    return error(StatusCode::InvalidData, "{}: expected documents, a line each, got none", fmt::join(paths, ", "));
  QRT_ASSIGN_OR_RETURN(result.manifest, writer.finish());
  if (!options.vocabularyBound)
    result.warnings.push_back(fmt::format("the vocabulary is taken to have {} ids, the greatest in the data plus one "
                                          "(--vocabulary N: N)",
                                          result.manifest.vocabularyBound));
  return result;
}

} // namespace qrt
