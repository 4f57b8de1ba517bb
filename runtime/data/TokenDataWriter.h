// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing token and packed data (docs/data.md) as a stream of documents.
#ifndef RUNTIME_DATA_TOKENDATAWRITER_H
#define RUNTIME_DATA_TOKENDATAWRITER_H

#include "runtime/base/File.h"
#include "runtime/base/Status.h"
#include "runtime/data/Manifest.h"
#include "runtime/data/TokenData.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace qrt {

struct TokenDataWriterOptions {
  DataKind kind = DataKind::Tokens;
  /// Packed data only.
  int64_t rowLength = 0;
  /// Every id must be below it. None: the manifest gets the greatest id plus one.
  std::optional<int64_t> vocabularyBound = std::nullopt;
  std::string tokenizerSha256 = {};
  std::string templateSha256 = {};
  /// A shard ends when it has this many tokens or more; it is held in memory until then, 5 bytes a token.
  int64_t shardTokens = int64_t{16} << 20;
};

/// The directory appears whole, with its manifest, when the writer finishes (AtomicDirectory).
class TokenDataWriter {
public:
  /// InvalidUsage if the directory exists and holds anything.
  static StatusOr<TokenDataWriter> create(const std::string &directory, const TokenDataWriterOptions &options);

  /// InvalidData for an empty document, another length of the mask, an id out of range, a mask other than 0 and 1, or a
  /// first token that is a target. Packed data: also (ResourceExhausted) if the row has no room for it.
  Status addDocument(std::span<const int32_t> ids, std::span<const uint8_t> lossMask);

  /// Packed data: the documents since the last call are a row.
  Status endRow();

  /// Writes what is left, the manifest, and names the directory. InvalidData if there was no document.
  StatusOr<Manifest> finish(const std::optional<PackCounts> &packing = std::nullopt);

private:
  explicit TokenDataWriter(AtomicDirectory directory) : directory_(std::move(directory)) {}
  Status writeShard();

  AtomicDirectory directory_;
  TokenDataWriterOptions options_;
  Manifest manifest_;
  /// The shard in the making.
  TokenRow shard_;
  std::vector<int64_t> rowOffsets_;
  std::vector<BucketShape> rows_;
  BucketShape row_;
  int64_t shardTrained_ = 0;
  int32_t greatestId_ = 0;
};

} // namespace qrt

#endif // RUNTIME_DATA_TOKENDATAWRITER_H
