// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/TokenData.h"

#include "runtime/base/Digits.h"
#include "runtime/base/Json.h"
#include "runtime/base/Sha256.h"

#include <algorithm>
#include <array>

namespace qrt {

namespace {

/// An i64 tensor of offsets: at least one, from 0 to `end`, never falling.
StatusOr<std::vector<int64_t>> readOffsets(const SafetensorsFile &file, const char *name, int64_t end) {
  QRT_ASSIGN_OR_RETURN(TensorView tensor, file.tensor(name, DType::I64, 1));
  if (tensor.elements() == 0)
    return error(StatusCode::InvalidData, "{}: {}: expected at least one offset", file.path(), name);
  std::vector<int64_t> offsets(static_cast<size_t>(tensor.elements()));
  tensor.copy<int64_t>(0, offsets);
  if (offsets.front() != 0 || offsets.back() != end)
    return error(StatusCode::InvalidData, "{}: {}: expected 0 to {}, got {} to {}", file.path(), name, end,
                 offsets.front(), offsets.back());
  for (size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] < offsets[i - 1])
      return error(StatusCode::InvalidData, "{}: {}[{}]: falls from {} to {}", file.path(), name, i, offsets[i - 1],
                   offsets[i]);
  return offsets;
}

} // namespace

StatusOr<TokenShard> TokenShard::check(SafetensorsFile file, const Expected &expected) {
  size_t known = expected.kind == DataKind::Packed ? 4 : 3;
  for (const TensorSpec &tensor : file.tensors())
    if (tensor.name != "input_ids" && tensor.name != "loss_mask" && tensor.name != "doc_offsets" &&
        (tensor.name != "row_offsets" || expected.kind == DataKind::Tokens))
      return error(StatusCode::InvalidData, "{}: {} has no place in a shard of {} data, which has {} tensors",
                   file.path(), quoteForMessage(tensor.name), dataKindName(expected.kind), known);
  QRT_ASSIGN_OR_RETURN(TensorView ids, file.tensor("input_ids", DType::I32, 1));
  QRT_ASSIGN_OR_RETURN(TensorView mask, file.tensor("loss_mask", DType::U8, 1));
  if (mask.elements() != ids.elements())
    return error(StatusCode::InvalidData, "{}: loss_mask: expected one for each of {} tokens, got {}", file.path(),
                 ids.elements(), mask.elements());
  TokenShard shard(std::move(file));
  QRT_RETURN_IF_ERROR(shard.checkDocuments());
  if (expected.kind == DataKind::Packed)
    QRT_RETURN_IF_ERROR(shard.checkRows(expected.rowLength));
  QRT_RETURN_IF_ERROR(shard.checkTokens(expected.vocabularyBound));
  return shard;
}

Status TokenShard::checkDocuments() {
  QRT_ASSIGN_OR_RETURN(documentOffsets_, readOffsets(file_, "doc_offsets", ids().elements()));
  return Status();
}

/// Needs the offsets as the file has them; leaves out the empty documents after that.
Status TokenShard::checkRows(int64_t rowLength) {
  QRT_ASSIGN_OR_RETURN(rowOffsets_, readOffsets(file_, "row_offsets", documents()));
  int64_t kept = 0;
  int64_t document = 0;
  for (size_t r = 0; r + 1 < rowOffsets_.size(); ++r) {
    int64_t end = rowOffsets_[r + 1];
    BucketShape shape;
    rowOffsets_[r] = kept;
    for (; document < end; ++document) {
      int64_t length = documentBegin(document + 1) - documentBegin(document);
      shape.tokens += length;
      shape.documents += length > 0;
      shape.longest = std::max(shape.longest, length);
    }
    if (shape.tokens < 1 || shape.tokens > rowLength)
      return error(StatusCode::InvalidData, "{}: row {}: expected 1 to {} tokens, got {}", path(), r, rowLength,
                   shape.tokens);
    kept += shape.documents;
    rowShapes_.push_back(shape);
  }
  rowOffsets_.back() = kept;
  return Status();
}

Status TokenShard::checkTokens(int64_t vocabularyBound) {
  size_t listed = documentOffsets_.size();
  documentOffsets_.erase(std::unique(documentOffsets_.begin(), documentOffsets_.end()), documentOffsets_.end());
  emptyDocuments_ = static_cast<int64_t>(listed - documentOffsets_.size());

  TensorView allIds = ids();
  TensorView allMasks = mask();
  std::array<int32_t, 4096> some;
  for (int64_t begin = 0; begin < allIds.elements(); begin += static_cast<int64_t>(some.size())) {
    std::span<int32_t> block(some.data(), std::min(some.size(), static_cast<size_t>(allIds.elements() - begin)));
    allIds.copy(begin, block);
    for (size_t i = 0; i < block.size(); ++i)
      if (block[i] < 0 || block[i] >= vocabularyBound)
        return error(StatusCode::InvalidData, "{}: input_ids[{}]: expected 0 to {}, got {}", path(),
                     begin + static_cast<int64_t>(i), vocabularyBound - 1, block[i]);
  }
  for (size_t i = 0; i < allMasks.bytes.size(); ++i) {
    if (allMasks.bytes[i] > 1)
      return error(StatusCode::InvalidData, "{}: loss_mask[{}]: expected 0 or 1, got {}", path(), i, allMasks.bytes[i]);
    trainedTokens_ += allMasks.bytes[i];
  }
  for (int64_t d = 0; d < documents(); ++d)
    if (allMasks.bytes[static_cast<size_t>(documentBegin(d))] != 0)
      return error(StatusCode::InvalidData,
                   "{}: loss_mask[{}]: the first token of document {} is a target, but nothing predicts it", path(),
                   documentBegin(d), d);
  for (int64_t r = 0; r < rows(); ++r)
    rowShapes_[static_cast<size_t>(r)].trained =
        countTargets(documentBegin(rowBegin(r)), documentBegin(rowBegin(r + 1)));
  return Status();
}

int64_t TokenShard::countTargets(int64_t begin, int64_t end) const {
  auto range = mask().bytes.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  int64_t count = 0;
  for (uint8_t target : range)
    count += target;
  return count;
}

void TokenShard::appendTokens(int64_t begin, int64_t end, TokenRow &out) const {
  if (out.documentOffsets.empty())
    out.documentOffsets.push_back(0);
  size_t count = static_cast<size_t>(end - begin);
  out.ids.resize(out.ids.size() + count);
  out.lossMask.resize(out.lossMask.size() + count);
  ids().copy(begin, std::span<int32_t>(out.ids).last(count));
  mask().copy(begin, std::span<uint8_t>(out.lossMask).last(count));
}

void TokenShard::append(int64_t first, int64_t end, TokenRow &out) const {
  int64_t begin = documentBegin(first);
  int64_t before = out.tokens();
  appendTokens(begin, documentBegin(end), out);
  for (int64_t d = first; d < end; ++d)
    out.documentOffsets.push_back(before + documentBegin(d + 1) - begin);
}

void TokenShard::appendPiece(int64_t document, int64_t begin, int64_t count, TokenRow &out) const {
  assert(count > 0 && begin + count <= documentBegin(document + 1) - documentBegin(document));
  begin += documentBegin(document);
  int64_t before = out.tokens();
  appendTokens(begin, begin + count, out);
  out.lossMask[static_cast<size_t>(before)] = 0;
  out.documentOffsets.push_back(out.tokens());
}

StatusOr<TokenData> TokenData::open(const std::string &directory, DataKind kind) {
  TokenData data;
  data.directory_ = directory;
  QRT_ASSIGN_OR_RETURN(data.manifest_, readManifest(directory));
  if (data.manifest_.kind != kind)
    return error(StatusCode::InvalidUsage, "{}: expected {} data, got {} data", directory, dataKindName(kind),
                 dataKindName(data.manifest_.kind));
  for (const ShardManifest &said : data.manifest_.shards) {
    QRT_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::open(joinPath(directory, said.file)));
    QRT_ASSIGN_OR_RETURN(std::string hash, sha256(file.bytes()));
    if (hash != said.sha256)
      return error(StatusCode::InvalidData, "{}: damaged or exchanged: its SHA-256 is {}, the manifest says {}",
                   file.path(), hash, said.sha256);
    QRT_ASSIGN_OR_RETURN(TokenShard shard, TokenShard::check(std::move(file), {kind, data.manifest_.vocabularyBound,
                                                                               data.manifest_.rowLength}));
    for (auto [what, expected, found] : {std::tuple{"documents", said.documents, shard.documents()},
                                         {"tokens", said.tokens, shard.tokens()},
                                         {"trained tokens", said.trainedTokens, shard.trainedTokens()},
                                         {"rows", static_cast<int64_t>(said.rows.size()), shard.rows()}})
      if (expected != found)
        return error(StatusCode::InvalidData, "{}: the manifest says {} {}, the shard has {}", shard.path(), expected,
                     what, found);
    for (size_t r = 0; r < said.rows.size(); ++r)
      if (const BucketShape &found = shard.rowShapes()[r]; found != said.rows[r])
        return error(StatusCode::InvalidData, "{}: row {}: the manifest says {}x{}x{}x{}, the shard has {}x{}x{}x{}",
                     shard.path(), r, said.rows[r].tokens, said.rows[r].documents, said.rows[r].longest,
                     said.rows[r].trained, found.tokens, found.documents, found.longest, found.trained);
    if (shard.emptyDocuments() > 0)
      data.warnings_.push_back(
          fmt::format("{}: skipped {}", shard.path(), countOf(shard.emptyDocuments(), "empty document")));
    data.firstRow_.push_back(data.firstRow_.back() + shard.rows());
    data.shards_.push_back(std::move(shard));
  }
  return data;
}

const TokenShard &TokenData::shardOfRow(int64_t &row) const {
  assert(row >= 0 && row < rows());
  auto after = std::upper_bound(firstRow_.begin(), firstRow_.end(), row);
  size_t shard = static_cast<size_t>(after - firstRow_.begin()) - 1;
  row -= firstRow_[shard];
  return shards_[shard];
}

const BucketShape &TokenData::rowShape(int64_t row) const {
  const TokenShard &shard = shardOfRow(row);
  return shard.rowShapes()[static_cast<size_t>(row)];
}

void TokenData::readRow(int64_t row, TokenRow &out) const {
  const TokenShard &shard = shardOfRow(row);
  out.ids.clear();
  out.lossMask.clear();
  out.documentOffsets.clear();
  shard.append(shard.rowBegin(row), shard.rowBegin(row + 1), out);
}

} // namespace qrt
