// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Pack.h"

#include "runtime/base/Digits.h"
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

PackSource ownNames(const TokenData &tokens) {
  auto documentName = [&tokens](int64_t document) {
    auto shard = tokens.shards().begin();
    for (; document >= shard->documents(); ++shard)
      document -= shard->documents();
    return fmt::format("{}: document {}", shard->path(), document);
  };
  return {tokens.directory(), documentName};
}

struct Pieces {
  std::vector<Piece> pieces;
  std::vector<int64_t> lengths;

  void add(const Piece &piece, int64_t length) {
    pieces.push_back(piece);
    lengths.push_back(length);
  }
};

Status tooLong(const TokenData &tokens, int64_t rowLength, const std::string &first, int64_t length) {
  int64_t documents = 0, longest = 0;
  for (const TokenShard &shard : tokens.shards())
    for (int64_t d = 0; d < shard.documents(); ++d) {
      int64_t tokensOf = shard.documentBegin(d + 1) - shard.documentBegin(d);
      documents += tokensOf > rowLength;
      longest = std::max(longest, tokensOf);
    }
  return error(StatusCode::InvalidUsage,
               "{}: {}, but a row holds {}; longer than a row: {} of {}, the longest of {}. Take longer rows "
               "(--seq-len), or say what happens to such documents (--overflow drop, cut or split)",
               first, countOf(length, "token"), groupDigits(rowLength), groupDigits(documents),
               countOf(tokens.manifest().documents, "document"), countOf(longest, "token"));
}

/// The documents in file order, those that are too long as asked; counts what happened.
StatusOr<Pieces> collectPieces(const TokenData &tokens, const PackOptions &options, const PackSource &source,
                               PackCounts &counts) {
  Pieces result;
  int64_t number = 0;
  for (size_t s = 0; s < tokens.shards().size(); ++s) {
    const TokenShard &shard = tokens.shards()[s];
    for (int64_t d = 0; d < shard.documents(); ++d, ++number) {
      int64_t begin = shard.documentBegin(d);
      int64_t length = shard.documentBegin(d + 1) - begin;
      Piece piece{static_cast<int64_t>(s), d, 0};
      if (length <= options.rowLength) {
        result.add(piece, length);
        continue;
      }
      if (!options.overflow)
        return tooLong(tokens, options.rowLength, source.documentName(number), length);
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

int64_t untrainedRows(const Manifest &packed) {
  int64_t count = 0;
  for (const ShardManifest &shard : packed.shards)
    count +=
        std::count_if(shard.rows.begin(), shard.rows.end(), [](const BucketShape &row) { return row.trained == 0; });
  return count;
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

StatusOr<PackResult> packTokens(const TokenData &tokens, const std::string &directory, const PackOptions &options,
                                const std::optional<PackSource> &names) {
  PackSource source = names ? *names : ownNames(tokens);
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
  QRT_ASSIGN_OR_RETURN(Pieces all, collectPieces(tokens, options, source, counts));
  if (all.pieces.empty())
    return error(StatusCode::InvalidData, "{}: no document fits a row of {}: all {} are longer", source.name,
                 countOf(options.rowLength, "token"), groupDigits(counts.droppedDocuments));
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
  int64_t untrained = 0;
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
      untrained += std::find(document.lossMask.begin(), document.lossMask.end(), 1) == document.lossMask.end();
      QRT_RETURN_IF_ERROR(writer.addDocument(document.ids, document.lossMask));
    }
    QRT_RETURN_IF_ERROR(writer.endRow());
  }
  PackResult result;
  QRT_ASSIGN_OR_RETURN(result.manifest, writer.finish(counts));
  if (untrained > 0)
    result.warnings.push_back(fmt::format("{}: {} of {} without a trained token: they take time and teach nothing",
                                          source.name, groupDigits(untrained), countOf(count, "document")));
  if (int64_t rows = untrainedRows(result.manifest); rows > 0)
    result.warnings.push_back(fmt::format("{}: {} of {} without a trained token: a step of such rows alone ends a run",
                                          directory, groupDigits(rows), countOf(packed.rows(), "row")));
  return result;
}

std::string printPackReport(const Manifest &packed) {
  int64_t slots = packed.slots();
  std::string text =
      fmt::format("{}, {} ({} trained) in {} of {}: {:.2f}% full, {} empty\n", countOf(packed.documents, "document"),
                  countOf(packed.tokens, "token"), groupDigits(packed.trainedTokens), countOf(packed.rows, "row"),
                  groupDigits(packed.rowLength), percent(packed.tokens, slots), countOf(slots - packed.tokens, "slot"));
  if (int64_t rows = untrainedRows(packed))
    text += fmt::format("rows without a trained token: {}\n", groupDigits(rows));
  if (!packed.packing)
    return text;
  const PackCounts &counts = *packed.packing;
  text += fmt::format("batches of {} in file order, padded to the longest, would have {}: {:.2f}% padding, "
                      "{:.2f} times the slots of these rows\n",
                      countOf(counts.naiveBatch, "document"), countOf(counts.naiveSlots, "slot"),
                      percent(counts.naiveSlots - packed.tokens, counts.naiveSlots),
                      slots == 0 ? 0.0 : static_cast<double>(counts.naiveSlots) / static_cast<double>(slots));
  if (counts.droppedDocuments)
    text += fmt::format("dropped {} longer than a row, of {}, {} trained (--overflow cut or split keeps them)\n",
                        countOf(counts.droppedDocuments, "document"), countOf(counts.droppedTokens, "token"),
                        groupDigits(counts.lostTargets));
  if (counts.cutDocuments)
    text += fmt::format("cut {} to the length of a row: without {} at their ends, {} trained (--overflow split keeps "
                        "them)\n",
                        countOf(counts.cutDocuments, "document"), countOf(counts.cutTokens, "token"),
                        groupDigits(counts.lostTargets));
  if (counts.splitDocuments) {
    text += fmt::format("split {} longer than a row into {}", countOf(counts.splitDocuments, "document"),
                        groupDigits(counts.splitPieces));
    // A piece is a document of its own: nothing comes before its first token.
    if (counts.lostTargets)
      text += fmt::format("; {} now open a piece, where nothing predicts them, and are not trained (with a longer "
                          "--seq-len fewer)",
                          countOf(counts.lostTargets, "trained token"));
    text += "\n";
  }
  return text;
}

} // namespace qrt
