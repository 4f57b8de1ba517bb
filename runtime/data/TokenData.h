// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading token and packed data (docs/data.md). The shards are mapped; what is checked when a directory is opened holds
// afterwards: offsets rise, ids are below the vocabulary bound, masks are 0 or 1 and 0 at a document's first token,
// rows consist of whole documents and are as long as the manifest says.
#ifndef RUNTIME_DATA_TOKENDATA_H
#define RUNTIME_DATA_TOKENDATA_H

#include "runtime/base/Status.h"
#include "runtime/data/Manifest.h"
#include "runtime/data/Safetensors.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace qrt {

/// Documents in memory, one after the other: a packed row, or a single document.
struct TokenRow {
  /// [tokens]
  std::vector<int32_t> ids;
  /// [tokens] 1: this token is a target.
  std::vector<uint8_t> lossMask;
  /// [documents + 1] in tokens, from 0 to the number of tokens, rising.
  std::vector<int64_t> documentOffsets;

  int64_t tokens() const { return static_cast<int64_t>(ids.size()); }
  int64_t documents() const { return static_cast<int64_t>(documentOffsets.size()) - 1; }
};

/// One shard, checked in full. Empty documents are skipped: no index and no count includes one.
class TokenShard {
public:
  /// What a shard must agree with, from its manifest.
  struct Expected {
    DataKind kind;
    int64_t vocabularyBound;
    /// Packed data only.
    int64_t rowLength = 0;
  };

  /// InvalidData for everything that docs/data.md does not allow.
  static StatusOr<TokenShard> check(SafetensorsFile file, const Expected &expected);

  const std::string &path() const { return file_.path(); }
  int64_t documents() const { return static_cast<int64_t>(documentOffsets_.size()) - 1; }
  int64_t tokens() const { return documentOffsets_.back(); }
  int64_t trainedTokens() const { return trainedTokens_; }
  int64_t emptyDocuments() const { return emptyDocuments_; }
  int64_t rows() const { return static_cast<int64_t>(rowShapes_.size()); }

  /// First token of a document; of documents(): the end of the last.
  int64_t documentBegin(int64_t document) const { return documentOffsets_[static_cast<size_t>(document)]; }
  /// First document of a row; of rows(): the end of the last.
  int64_t rowBegin(int64_t row) const { return rowOffsets_[static_cast<size_t>(row)]; }
  /// The exact extents of each row.
  const std::vector<BucketShape> &rowShapes() const { return rowShapes_; }

  /// Documents [first, end), appended to `out`.
  void append(int64_t first, int64_t end, TokenRow &out) const;
  /// Tokens [begin, begin + count) of one document, appended to `out` as a document of their own: its first token is no
  /// target.
  void appendPiece(int64_t document, int64_t begin, int64_t count, TokenRow &out) const;
  /// Targets among tokens [begin, end) of the shard.
  int64_t countTargets(int64_t begin, int64_t end) const;

private:
  explicit TokenShard(SafetensorsFile file) : file_(std::move(file)) {}
  Status checkDocuments();
  Status checkTokens(int64_t vocabularyBound);
  Status checkRows(int64_t rowLength);
  TensorView ids() const { return *file_.find("input_ids"); }
  TensorView mask() const { return *file_.find("loss_mask"); }
  void appendTokens(int64_t begin, int64_t end, TokenRow &out) const;

  SafetensorsFile file_;
  std::vector<int64_t> documentOffsets_;
  std::vector<int64_t> rowOffsets_;
  std::vector<BucketShape> rowShapes_;
  int64_t trainedTokens_ = 0;
  int64_t emptyDocuments_ = 0;
};

/// A data directory.
class TokenData {
public:
  /// Reads the manifest, verifies every shard's hash and contents and that they are what the manifest says.
  /// InvalidUsage if the data is of the other kind.
  static StatusOr<TokenData> open(const std::string &directory, DataKind kind);

  const std::string &directory() const { return directory_; }
  const Manifest &manifest() const { return manifest_; }
  /// What is odd but not wrong, for people: a line each.
  const std::vector<std::string> &warnings() const { return warnings_; }
  const std::vector<TokenShard> &shards() const { return shards_; }
  int64_t rows() const { return manifest_.rows; }

  /// The extents of row `row`, counted over all shards.
  const BucketShape &rowShape(int64_t row) const;
  /// Row `row` into `out`, whose memory is used again.
  void readRow(int64_t row, TokenRow &out) const;

private:
  TokenData() = default;
  /// The shard of a row; `row` becomes its index there.
  const TokenShard &shardOfRow(int64_t &row) const;

  std::string directory_;
  Manifest manifest_;
  std::vector<TokenShard> shards_;
  /// [shards + 1] rows before each shard.
  std::vector<int64_t> firstRow_ = {0};
  std::vector<std::string> warnings_;
};

} // namespace qrt

#endif // RUNTIME_DATA_TOKENDATA_H
