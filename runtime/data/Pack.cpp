// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Pack.h"

#include "runtime/data/Shuffle.h"
#include "runtime/data/TokenDataWriter.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace qrt {

namespace {

/// A document of a row: all of a document of the tokens, or a piece.
struct Piece {
  int64_t shard;
  int64_t document;
  int64_t begin;
};

struct Pieces {
  std::vector<Piece> pieces;
  std::vector<int64_t> lengths;

  void add(const Piece &piece, int64_t length) {
    pieces.push_back(piece);
    lengths.push_back(length);
  }
};

/// The documents in file order, those that are too long as asked; counts what happened.
StatusOr<Pieces> collectPieces(const TokenData &tokens, const PackOptions &options, PackCounts &counts) {
  Pieces result;
  for (size_t s = 0; s < tokens.shards().size(); ++s) {
    const TokenShard &shard = tokens.shards()[s];
    for (int64_t d = 0; d < shard.documents(); ++d) {
      int64_t begin = shard.documentBegin(d);
      int64_t length = shard.documentBegin(d + 1) - begin;
      Piece piece{static_cast<int64_t>(s), d, 0};
      if (length <= options.rowLength) {
        result.add(piece, length);
        continue;
      }
      if (!options.overflow)
        return error(StatusCode::InvalidUsage,
                     "{}: document {} has {} tokens, a row {}: use longer rows, or say what to do with it: "
                     "--overflow=drop, cut or split",
                     shard.path(), d, length, options.rowLength);
      switch (*options.overflow) {
      case Overflow::Drop:
        counts.droppedDocuments += 1;
        counts.droppedTokens += length;
        counts.lostTargets += shard.countTargets(begin, begin + length);
        break;
      case Overflow::Cut:
        counts.cutDocuments += 1;
        counts.cutTokens += length - options.rowLength;
        counts.lostTargets += shard.countTargets(begin + options.rowLength, begin + length);
        result.add(piece, options.rowLength);
        break;
      case Overflow::Split:
        counts.splitDocuments += 1;
        for (; piece.begin < length; piece.begin += options.rowLength) {
          counts.splitPieces += 1;
          counts.lostTargets += shard.countTargets(begin + piece.begin, begin + piece.begin + 1);
          result.add(piece, std::min(options.rowLength, length - piece.begin));
        }
        break;
      }
    }
  }
  return result;
}

double percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace

PackedRows packBestFit(std::span<const int64_t> lengths, int64_t rowLength, std::span<const int64_t> order) {
  assert(order.size() == lengths.size());
  auto lengthAt = [&](int64_t place) { return lengths[static_cast<size_t>(order[static_cast<size_t>(place)])]; };
  std::vector<int64_t> longestFirst(order.size());
  std::iota(longestFirst.begin(), longestFirst.end(), int64_t{0});
  std::sort(longestFirst.begin(), longestFirst.end(),
            [&](int64_t a, int64_t b) { return lengthAt(a) != lengthAt(b) ? lengthAt(a) > lengthAt(b) : a < b; });

  // The rows with room, by how much they have.
  std::map<int64_t, std::vector<int64_t>> open;
  std::vector<int64_t> rowOf(lengths.size());
  int64_t rows = 0;
  for (int64_t place : longestFirst) {
    int64_t item = order[static_cast<size_t>(place)];
    int64_t length = lengths[static_cast<size_t>(item)];
    assert(length >= 1 && length <= rowLength);
    int64_t row = rows;
    int64_t room = rowLength;
    auto tightest = open.lower_bound(length);
    if (tightest == open.end()) {
      ++rows;
    } else {
      room = tightest->first;
      row = tightest->second.back();
      tightest->second.pop_back();
      if (tightest->second.empty())
        open.erase(tightest);
    }
    rowOf[static_cast<size_t>(item)] = row;
    if (room > length)
      open[room - length].push_back(row);
  }

  // Number the rows by their first item in `order`.
  std::vector<int64_t> numbers(static_cast<size_t>(rows), -1);
  PackedRows result;
  result.rowOffsets.assign(static_cast<size_t>(rows) + 1, 0);
  int64_t next = 0;
  for (int64_t item : order) {
    int64_t &row = rowOf[static_cast<size_t>(item)];
    int64_t &number = numbers[static_cast<size_t>(row)];
    if (number < 0)
      number = next++;
    row = number;
    ++result.rowOffsets[static_cast<size_t>(row) + 1];
  }
  std::partial_sum(result.rowOffsets.begin(), result.rowOffsets.end(), result.rowOffsets.begin());
  std::vector<int64_t> at(result.rowOffsets.begin(), result.rowOffsets.end() - 1);
  result.items.resize(lengths.size());
  for (int64_t item : order)
    result.items[static_cast<size_t>(at[static_cast<size_t>(rowOf[static_cast<size_t>(item)])]++)] = item;
  return result;
}

int64_t naiveBatchSlots(std::span<const int64_t> lengths, int64_t batch) {
  int64_t slots = 0;
  for (size_t begin = 0; begin < lengths.size();) {
    size_t count = std::min(static_cast<size_t>(batch), lengths.size() - begin);
    auto items = lengths.subspan(begin, count);
    slots += static_cast<int64_t>(count) * *std::max_element(items.begin(), items.end());
    begin += count;
  }
  return slots;
}

StatusOr<Manifest> packTokens(const TokenData &tokens, const std::string &directory, const PackOptions &options) {
  if (options.naiveBatch < 1)
    return error(StatusCode::InvalidUsage, "naive batch: expected at least 1, got {}", options.naiveBatch);
  TokenDataWriterOptions output;
  output.kind = DataKind::Packed;
  output.rowLength = options.rowLength;
  output.vocabularyBound = tokens.manifest().vocabularyBound;
  output.tokenizerSha256 = tokens.manifest().tokenizerSha256;
  output.templateSha256 = tokens.manifest().templateSha256;
  output.shardTokens = options.shardTokens;
  QRT_ASSIGN_OR_RETURN(TokenDataWriter writer, TokenDataWriter::create(directory, output));

  PackCounts counts;
  counts.overflow = options.overflow;
  counts.seed = options.seed;
  counts.naiveBatch = options.naiveBatch;
  QRT_ASSIGN_OR_RETURN(Pieces all, collectPieces(tokens, options, counts));
  if (all.pieces.empty())
    return error(StatusCode::InvalidData, "{}: no document fits a row of {} tokens: {} were dropped",
                 tokens.directory(), options.rowLength, counts.droppedDocuments);
  counts.naiveSlots = naiveBatchSlots(all.lengths, options.naiveBatch);

  int64_t count = static_cast<int64_t>(all.pieces.size());
  std::vector<int64_t> order;
  if (options.seed) {
    order = shuffledIndices(count, *options.seed, ShuffleUse::Packing, 0);
  } else {
    order.resize(all.pieces.size());
    std::iota(order.begin(), order.end(), int64_t{0});
  }
  PackedRows packed = packBestFit(all.lengths, options.rowLength, order);
  order = {};

  TokenRow document;
  for (int64_t row = 0; row < packed.rows(); ++row) {
    for (int64_t i = packed.rowOffsets[static_cast<size_t>(row)]; i < packed.rowOffsets[static_cast<size_t>(row) + 1];
         ++i) {
      size_t index = static_cast<size_t>(packed.items[static_cast<size_t>(i)]);
      const Piece &piece = all.pieces[index];
      document.ids.clear();
      document.lossMask.clear();
      document.documentOffsets.clear();
      tokens.shards()[static_cast<size_t>(piece.shard)].appendPiece(piece.document, piece.begin, all.lengths[index],
                                                                    document);
      QRT_RETURN_IF_ERROR(writer.addDocument(document.ids, document.lossMask));
    }
    QRT_RETURN_IF_ERROR(writer.endRow());
  }
  return writer.finish(counts);
}

std::string printPackReport(const Manifest &packed) {
  int64_t slots = packed.slots();
  std::string text =
      fmt::format("{} documents, {} tokens ({} trained) in {} rows of {}: {:.2f}% full, {} slots empty\n",
                  packed.documents, packed.tokens, packed.trainedTokens, packed.rows, packed.rowLength,
                  percent(packed.tokens, slots), slots - packed.tokens);
  if (!packed.packing)
    return text;
  const PackCounts &counts = *packed.packing;
  text +=
      fmt::format("batches of {} documents in file order, padded to the longest, would have {} slots: {:.2f}% padding, "
                  "{:.2f} times the slots of these rows\n",
                  counts.naiveBatch, counts.naiveSlots, percent(counts.naiveSlots - packed.tokens, counts.naiveSlots),
                  slots == 0 ? 0.0 : static_cast<double>(counts.naiveSlots) / static_cast<double>(slots));
  if (counts.droppedDocuments)
    text += fmt::format("dropped {} documents longer than a row: {} tokens\n", counts.droppedDocuments,
                        counts.droppedTokens);
  if (counts.cutDocuments)
    text +=
        fmt::format("cut {} documents to the length of a row: {} tokens lost\n", counts.cutDocuments, counts.cutTokens);
  if (counts.splitDocuments)
    text += fmt::format("split {} documents longer than a row into {}\n", counts.splitDocuments, counts.splitPieces);
  if (counts.lostTargets)
    text += fmt::format("{} targets were lost with that\n", counts.lostTargets);
  return text;
}

} // namespace qrt
