// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arranging whole documents in rows: `qrun pack`.
#ifndef RUNTIME_DATA_PACK_H
#define RUNTIME_DATA_PACK_H

#include "runtime/base/Status.h"
#include "runtime/data/Manifest.h"
#include "runtime/data/TokenData.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace qrt {

/// Which items share a row.
struct PackedRows {
  /// Every item once, row after row.
  std::vector<int64_t> items;
  /// [rows + 1] into items.
  std::vector<int64_t> rowOffsets;

  int64_t rows() const { return static_cast<int64_t>(rowOffsets.size()) - 1; }
};

/// Best-fit decreasing: items from the longest to the shortest, each into the row where it leaves the least room (of
/// equal ones the last opened), or a new one. `lengths` are 1 to rowLength. `order` holds every item once: it decides
/// between items of one length, and is the order of items in a row and (by its first item) of the rows. O(n log n)
/// time.
PackedRows packBestFit(std::span<const int64_t> lengths, int64_t rowLength, std::span<const int64_t> order);

/// Slots that batches of `batch` items in the order given take, each padded to its longest.
int64_t naiveBatchSlots(std::span<const int64_t> lengths, int64_t batch);

/// How messages name what is packed.
struct PackSource {
  std::string name;
  /// Of a document of the tokens, counted over all shards.
  std::function<std::string(int64_t)> documentName;
};

struct PackOptions {
  int64_t rowLength = 8192;
  /// None: a document longer than a row is an error.
  std::optional<Overflow> overflow = std::nullopt;
  /// None: rows are in the order of the documents. Otherwise documents are shuffled before they are packed.
  std::optional<uint64_t> seed = std::nullopt;
  /// What the report compares with.
  int64_t naiveBatch = 8;
  int64_t shardTokens = int64_t{16} << 20;
};

struct PackResult {
  Manifest manifest;
  /// For people, a line each: documents and rows without a trained token.
  std::vector<std::string> warnings;
};

/// Packs token data into a new directory; the counts are in the manifest's `packing`. Without `source` the tokens' own
/// directory and shards are named. Memory: some 50 bytes a document, and a shard.
StatusOr<PackResult> packTokens(const TokenData &tokens, const std::string &directory, const PackOptions &options,
                                const std::optional<PackSource> &source = std::nullopt);

/// For people, some lines: how full the rows are, what naive batches of the same documents would have padded, what
/// happened to documents that are longer than a row.
std::string printPackReport(const Manifest &packed);

} // namespace qrt

#endif // RUNTIME_DATA_PACK_H
