// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the documents of a packed row lie in memory for kernels: one i32 table whose layout follows from the bucket
// alone, filled by the host for each batch. Entries past the counts repeat the last valid boundary (offsets), or are -1
// (everything else).
#ifndef RUNTIME_BASE_SEGMENTTABLE_H
#define RUNTIME_BASE_SEGMENTTABLE_H

#include "runtime/base/BucketShape.h"

#include <algorithm>
#include <cstdint>

namespace qrt {

/// Tokens of a chunk of the delta rule. A chunk never spans two documents: the chunk grid restarts at every document.
constexpr int64_t kChunkTokens = 64;
/// Query tokens of an attention tile; a tile never spans two documents.
constexpr int64_t kTileTokens = 64;

/// Offsets, in i32 elements, of the parts of a bucket's table.
struct SegmentLayout {
  BucketShape bucket;

  /// Header: tokens in documents, documents, chunks, tiles, trained rows; three unused.
  static constexpr int64_t kHeader = 8;

  constexpr int64_t maxBlocks(int64_t block) const {
    // Every document begins a block of its own: at most one more than its whole blocks.
    return std::min(bucket.tokens, bucket.tokens / block + bucket.documents);
  }
  constexpr int64_t maxChunks() const { return maxBlocks(kChunkTokens); }
  constexpr int64_t maxTiles() const { return maxBlocks(kTileTokens); }

  /// [documents + 1] first token of each document, then the end.
  constexpr int64_t documentOffsets() const { return kHeader; }
  /// [tokens] the document of a token, -1 in the tail.
  constexpr int64_t tokenDocument() const { return documentOffsets() + bucket.documents + 1; }
  /// [maxChunks] first token of each chunk, in order of tokens.
  constexpr int64_t chunkStart() const { return tokenDocument() + bucket.tokens; }
  /// [maxTiles] first token of each attention tile, those with the most keys first.
  constexpr int64_t tileStart() const { return chunkStart() + maxChunks(); }
  /// [trained] token of each trained row, ascending.
  constexpr int64_t trainedRows() const { return tileStart() + maxTiles(); }
  /// Elements of the whole table.
  constexpr int64_t size() const { return trainedRows() + bucket.trained; }
};

/// A table with its layout, as a kernel reads it.
struct Segments {
  SegmentLayout layout;
  const int32_t *table;

  int64_t tokens() const { return table[0]; }
  int64_t documents() const { return table[1]; }
  int64_t chunks() const { return table[2]; }
  int64_t tiles() const { return table[3]; }
  int64_t trained() const { return table[4]; }
  /// First token of document d; of d = documents(): the end of the last.
  int64_t begin(int64_t d) const { return table[layout.documentOffsets() + d]; }
  int64_t end(int64_t d) const { return begin(d + 1); }
  /// The document of a token, or -1 in the tail.
  int64_t document(int64_t token) const { return table[layout.tokenDocument() + token]; }
  int64_t chunkStart(int64_t i) const { return table[layout.chunkStart() + i]; }
  int64_t tileStart(int64_t i) const { return table[layout.tileStart() + i]; }
  int64_t trainedRow(int64_t r) const { return table[layout.trainedRows() + r]; }
};

} // namespace qrt

#endif // RUNTIME_BASE_SEGMENTTABLE_H
