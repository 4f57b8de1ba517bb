// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// manifest.json of a data directory (docs/data.md): what its shards hold, and the extents of every packed row.
#ifndef RUNTIME_DATA_MANIFEST_H
#define RUNTIME_DATA_MANIFEST_H

#include "runtime/base/BucketShape.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qrt {

enum class DataKind {
  /// Documents.
  Tokens,
  /// Documents arranged in rows.
  Packed,
};

/// "tokens" or "packed".
std::string_view dataKindName(DataKind kind);

/// What happens to a document that is longer than a row.
enum class Overflow {
  /// It is left out.
  Drop,
  /// Its beginning is kept, a row long.
  Cut,
  /// It becomes several documents, each but the last a row long.
  Split,
};

/// "drop", "cut", "split".
std::string_view overflowName(Overflow overflow);
StatusOr<Overflow> parseOverflow(std::string_view name);

/// How the rows of packed data came about.
struct PackCounts {
  /// What was asked for; none: a document that is too long is an error.
  std::optional<Overflow> overflow = std::nullopt;
  std::optional<uint64_t> seed = std::nullopt;
  int64_t droppedDocuments = 0;
  int64_t droppedTokens = 0;
  int64_t cutDocuments = 0;
  int64_t cutTokens = 0;
  int64_t splitDocuments = 0;
  /// Documents that the split ones became.
  int64_t splitPieces = 0;
  /// Targets that are gone: of dropped and cut tokens, and the first token of each later piece.
  int64_t lostTargets = 0;
  /// Slots that batches of `naiveBatch` documents in file order, padded to the longest of each batch, would take.
  int64_t naiveBatch = 0;
  int64_t naiveSlots = 0;

  bool operator==(const PackCounts &) const = default;
};

/// Counts are of documents that are not empty.
struct ShardManifest {
  /// A plain file name in the manifest's directory.
  std::string file;
  std::string sha256;
  int64_t documents = 0;
  int64_t tokens = 0;
  int64_t trainedTokens = 0;
  /// Packed data: the extents of each row, exactly (`tokens` without a tail).
  std::vector<BucketShape> rows;

  bool operator==(const ShardManifest &) const = default;
};

struct Manifest {
  static constexpr int64_t kSchemaVersion = 1;

  DataKind kind = DataKind::Tokens;
  /// Every id is below it; at most BucketShape::kMaxTokens, since ids are 32-bit.
  int64_t vocabularyBound = 0;
  /// 64 hexadecimal digits, or empty where there is none.
  std::string tokenizerSha256;
  std::string templateSha256;
  /// Sums over the shards.
  int64_t documents = 0;
  int64_t tokens = 0;
  int64_t trainedTokens = 0;
  /// Packed data: how many tokens a row can hold, how many rows there are.
  int64_t rowLength = 0;
  int64_t rows = 0;
  std::optional<PackCounts> packing;
  std::vector<ShardManifest> shards;

  int64_t slots() const { return rows * rowLength; }

  bool operator==(const Manifest &) const = default;
};

/// InvalidData, with `source` and the key, for another schema version (both are named) and for any count that does not
/// agree with another. Unknown keys are ignored.
StatusOr<Manifest> parseManifest(std::string_view text, const std::string &source);

/// parseManifest of DIRECTORY/manifest.json.
StatusOr<Manifest> readManifest(const std::string &directory);

/// The text of a manifest; a function of its contents alone.
std::string printManifest(const Manifest &manifest);

} // namespace qrt

#endif // RUNTIME_DATA_MANIFEST_H
