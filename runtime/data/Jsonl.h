// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Importing documents that are token ids already: JSON lines with `input_ids` and `labels`, as Hugging Face's trainers
// take them. Labels are not shifted: labels[t] is input_ids[t] where token t is a target, and -100 elsewhere.
#ifndef RUNTIME_DATA_JSONL_H
#define RUNTIME_DATA_JSONL_H

#include "runtime/base/Status.h"
#include "runtime/data/Manifest.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qrt {

struct JsonlDocument {
  std::vector<int32_t> ids;
  std::vector<uint8_t> lossMask;
  /// The first token had a label, which was taken away: nothing predicts it.
  bool firstWasTarget = false;
};

/// Reads a text line by line. Lines of white space are skipped; keys other than `input_ids`, `labels` and
/// `attention_mask` are ignored.
class JsonlReader {
public:
  /// The text must outlive the reader. `vocabularyBound`: every id must be below it.
  JsonlReader(std::string_view text, std::string source, int64_t vocabularyBound)
      : rest_(text), source_(std::move(source)), vocabularyBound_(vocabularyBound) {}

  /// The next document (it may be empty), or false at the end. InvalidData with file and line: no JSON object, no array
  /// of ids below the bound, labels of another number or that are neither the id nor -100 (so shifted labels are seen),
  /// and an attention mask that is not all ones (the sample is padded).
  StatusOr<bool> next(JsonlDocument &document);

  /// The number of the line read last, from 1.
  int64_t line() const { return line_; }

private:
  std::string_view rest_;
  std::string source_;
  int64_t vocabularyBound_;
  int64_t line_ = 0;
};

struct JsonlImport {
  Manifest manifest;
  /// Where each document was: an index of the files, and a line of it from 1.
  std::vector<std::pair<size_t, int64_t>> places;
  /// Lines with an empty document, which were skipped.
  int64_t emptyDocuments = 0;
  /// Documents whose first token had a label.
  int64_t firstTargets = 0;
  /// For people, a line each.
  std::vector<std::string> warnings;
};

struct JsonlOptions {
  /// None: the greatest id plus one.
  std::optional<int64_t> vocabularyBound = std::nullopt;
  std::string tokenizerSha256 = {};
  int64_t shardTokens = int64_t{16} << 20;
};

/// Writes the documents of the files, in order, as token data into a new directory. Memory: a line, a shard,
/// and 16 bytes a document. InvalidData if there is none.
StatusOr<JsonlImport> importJsonl(const std::vector<std::string> &paths, const std::string &directory,
                                  const JsonlOptions &options);

} // namespace qrt

#endif // RUNTIME_DATA_JSONL_H
