// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/TokenDataWriter.h"

#include "runtime/data/SafetensorsWriter.h"

#include <algorithm>

namespace qrt {

StatusOr<TokenDataWriter> TokenDataWriter::create(const std::string &directory, const TokenDataWriterOptions &options) {
  int64_t bound = options.vocabularyBound.value_or(BucketShape::kMaxTokens);
  if (bound < 1 || bound > BucketShape::kMaxTokens)
    return error(StatusCode::InvalidUsage, "vocabulary bound: expected 1 to {}, got {}", BucketShape::kMaxTokens,
                 bound);
  if (options.kind == DataKind::Packed && (options.rowLength < 1 || options.rowLength > BucketShape::kMaxTokens))
    return error(StatusCode::InvalidUsage, "row length: expected 1 to {}, got {}", BucketShape::kMaxTokens,
                 options.rowLength);
  QRT_ASSIGN_OR_RETURN(AtomicDirectory target, AtomicDirectory::create(directory));
  TokenDataWriter writer(std::move(target));
  writer.options_ = options;
  writer.shard_.documentOffsets = {0};
  writer.rowOffsets_ = {0};
  return writer;
}

Status TokenDataWriter::addDocument(std::span<const int32_t> ids, std::span<const uint8_t> lossMask) {
  auto fail = [&](StatusCode code, const std::string &what) {
    return error(code, "{}: document {}: {}", directory_.path(), manifest_.documents + shard_.documents(), what);
  };
  if (ids.empty())
    return fail(StatusCode::InvalidData, "empty");
  if (ids.size() != lossMask.size())
    return fail(StatusCode::InvalidData, fmt::format("{} tokens, but {} of its mask", ids.size(), lossMask.size()));
  int64_t bound = options_.vocabularyBound.value_or(BucketShape::kMaxTokens);
  int64_t trained = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= bound)
      return fail(StatusCode::InvalidData,
                  fmt::format("token {}: expected an id from 0 to {}, got {}", i, bound - 1, ids[i]));
    if (lossMask[i] > 1)
      return fail(StatusCode::InvalidData, fmt::format("token {}: expected a mask of 0 or 1, got {}", i, lossMask[i]));
    trained += lossMask[i];
  }
  if (lossMask[0] != 0)
    return fail(StatusCode::InvalidData, "its first token is a target, but nothing predicts it");
  int64_t length = static_cast<int64_t>(ids.size());
  if (options_.kind == DataKind::Packed && length > options_.rowLength - row_.tokens)
    return fail(StatusCode::ResourceExhausted,
                fmt::format("{} tokens do not fit a row of {} with {} in it", length, options_.rowLength, row_.tokens));
  greatestId_ = std::max(greatestId_, *std::max_element(ids.begin(), ids.end()));
  shard_.ids.insert(shard_.ids.end(), ids.begin(), ids.end());
  shard_.lossMask.insert(shard_.lossMask.end(), lossMask.begin(), lossMask.end());
  shard_.documentOffsets.push_back(shard_.tokens());
  shardTrained_ += trained;
  row_.tokens += length;
  row_.documents += 1;
  row_.longest = std::max(row_.longest, length);
  row_.trained += trained;
  if (options_.kind == DataKind::Tokens && shard_.tokens() >= options_.shardTokens)
    return writeShard();
  return Status();
}

Status TokenDataWriter::endRow() {
  assert(options_.kind == DataKind::Packed);
  if (row_.documents == 0)
    return error(StatusCode::InvalidData, "{}: row {}: empty", directory_.path(), manifest_.rows + rows_.size());
  rowOffsets_.push_back(shard_.documents());
  rows_.push_back(row_);
  row_ = {};
  if (shard_.tokens() >= options_.shardTokens)
    return writeShard();
  return Status();
}

Status TokenDataWriter::writeShard() {
  ShardManifest shard;
  shard.file = fmt::format("shard-{:05}.safetensors", manifest_.shards.size());
  shard.documents = shard_.documents();
  shard.tokens = shard_.tokens();
  shard.trainedTokens = shardTrained_;
  shard.rows = std::move(rows_);

  // The widest types first, so that all are aligned.
  std::vector<TensorSpec> specs = {{"doc_offsets", DType::I64, {shard.documents + 1}}};
  if (options_.kind == DataKind::Packed)
    specs.push_back({"row_offsets", DType::I64, {static_cast<int64_t>(rowOffsets_.size())}});
  specs.push_back({"input_ids", DType::I32, {shard.tokens}});
  specs.push_back({"loss_mask", DType::U8, {shard.tokens}});
  QRT_ASSIGN_OR_RETURN(
      SafetensorsWriter writer,
      SafetensorsWriter::create(joinPath(directory_.partialPath(), shard.file), specs, {}, /*hashed=*/true));
  QRT_RETURN_IF_ERROR(writer.append("doc_offsets", asBytes(std::span<const int64_t>(shard_.documentOffsets))));
  if (options_.kind == DataKind::Packed)
    QRT_RETURN_IF_ERROR(writer.append("row_offsets", asBytes(std::span<const int64_t>(rowOffsets_))));
  QRT_RETURN_IF_ERROR(writer.append("input_ids", asBytes(std::span<const int32_t>(shard_.ids))));
  QRT_RETURN_IF_ERROR(writer.append("loss_mask", shard_.lossMask));
  QRT_ASSIGN_OR_RETURN(shard.sha256, writer.finish());

  manifest_.documents += shard.documents;
  manifest_.tokens += shard.tokens;
  manifest_.trainedTokens += shard.trainedTokens;
  manifest_.rows += static_cast<int64_t>(shard.rows.size());
  manifest_.shards.push_back(std::move(shard));
  shard_.ids.clear();
  shard_.lossMask.clear();
  shard_.documentOffsets = {0};
  rowOffsets_ = {0};
  rows_.clear();
  shardTrained_ = 0;
  return Status();
}

StatusOr<Manifest> TokenDataWriter::finish(const std::optional<PackCounts> &packing) {
  assert((options_.kind == DataKind::Tokens || row_.documents == 0) && "a row was not ended");
  if (shard_.documents() > 0)
    QRT_RETURN_IF_ERROR(writeShard());
  if (manifest_.documents == 0)
    return error(StatusCode::InvalidData, "{}: there are no documents to write", directory_.path());
  manifest_.kind = options_.kind;
  manifest_.vocabularyBound = options_.vocabularyBound.value_or(int64_t{greatestId_} + 1);
  manifest_.tokenizerSha256 = options_.tokenizerSha256;
  manifest_.templateSha256 = options_.templateSha256;
  if (options_.kind == DataKind::Packed) {
    manifest_.rowLength = options_.rowLength;
    manifest_.packing = packing;
  }
  QRT_RETURN_IF_ERROR(
      writeFileAtomically(joinPath(directory_.partialPath(), "manifest.json"), printManifest(manifest_)));
  QRT_RETURN_IF_ERROR(directory_.commit());
  return std::move(manifest_);
}

} // namespace qrt
