// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Manifest.h"

#include "runtime/base/File.h"
#include "runtime/base/Json.h"
#include "runtime/base/Sha256.h"

#include <algorithm>
#include <set>

namespace qrt {

namespace {

/// Room for some ten million rows.
constexpr JsonLimits kManifestLimits = {.maxBytes = int64_t{1} << 31, .maxValues = int64_t{64} << 20};
/// No sum of counts overflows.
constexpr int64_t kMaxCount = int64_t{1} << 48;

StatusOr<std::string> readHash(const JsonObject &object, const std::string &key, bool mayBeEmpty) {
  QRT_ASSIGN_OR_RETURN(std::string hash, object.string(key));
  if (!isSha256(hash) && !(mayBeEmpty && hash.empty()))
    return object.fail(key, fmt::format("expected 64 lower-case hexadecimal digits, got {}", quoteForMessage(hash)));
  return hash;
}

StatusOr<BucketShape> readRow(const Json &value, const JsonObject &shard, size_t index, int64_t rowLength) {
  const auto *numbers = value.get_ptr<const Json::array_t *>();
  BucketShape row;
  int64_t *fields[] = {&row.tokens, &row.documents, &row.longest, &row.trained};
  bool ok = numbers && numbers->size() == std::size(fields);
  for (size_t i = 0; ok && i < std::size(fields); ++i) {
    // Counts are written without a sign, and such numbers are parsed as unsigned.
    const auto *number = (*numbers)[i].get_ptr<const Json::number_unsigned_t *>();
    ok = number && *number <= static_cast<uint64_t>(rowLength);
    if (ok)
      *fields[i] = static_cast<int64_t>(*number);
  }
  // What holds for any row: no document is empty, none is longer than the longest, and no first token is a target.
  ok = ok && row.documents >= 1 && row.longest >= 1 && row.tokens >= row.longest + (row.documents - 1) &&
       row.tokens <= row.longest * row.documents && row.trained <= row.tokens - row.documents;
  if (!ok)
    return shard.fail(
        fmt::format("rows[{}]", index),
        fmt::format("expected [tokens, documents, longest, trained] of a row of at most {} tokens, got {}", rowLength,
                    quoteForMessage(value.dump())));
  return row;
}

StatusOr<ShardManifest> readShard(const Json &value, const std::string &source, const std::string &place,
                                  const Manifest &manifest) {
  QRT_ASSIGN_OR_RETURN(JsonObject object, JsonObject::at(value, source, place));
  ShardManifest shard;
  QRT_ASSIGN_OR_RETURN(shard.file, object.string("file"));
  if (!isPlainFileName(shard.file))
    return object.fail(
        "file", fmt::format("expected the name of a file in the same directory, got {}", quoteForMessage(shard.file)));
  QRT_ASSIGN_OR_RETURN(shard.sha256, readHash(object, "sha256", /*mayBeEmpty=*/false));
  QRT_ASSIGN_OR_RETURN(shard.documents, object.integer("documents", 0, kMaxCount));
  QRT_ASSIGN_OR_RETURN(shard.tokens, object.integer("tokens", shard.documents, kMaxCount));
  QRT_ASSIGN_OR_RETURN(shard.trainedTokens, object.integer("trained_tokens", 0, shard.tokens - shard.documents));
  if (manifest.kind == DataKind::Tokens)
    return shard;

  QRT_ASSIGN_OR_RETURN(const Json::array_t *rows, object.array("rows"));
  BucketShape sum;
  shard.rows.reserve(rows->size());
  for (const Json &row : *rows) {
    QRT_ASSIGN_OR_RETURN(BucketShape shape, readRow(row, object, shard.rows.size(), manifest.rowLength));
    shard.rows.push_back(shape);
    sum.tokens += shape.tokens;
    sum.documents += shape.documents;
    sum.trained += shape.trained;
  }
  if (sum.tokens != shard.tokens || sum.documents != shard.documents || sum.trained != shard.trainedTokens)
    return object.fail("rows", fmt::format("expected {} tokens, {} documents, {} trained tokens in all, got {}, {}, {}",
                                           shard.tokens, shard.documents, shard.trainedTokens, sum.tokens,
                                           sum.documents, sum.trained));
  return shard;
}

StatusOr<PackCounts> readPacking(const JsonObject &object) {
  PackCounts counts;
  QRT_ASSIGN_OR_RETURN(std::string overflow, object.stringOr("overflow", ""));
  if (!overflow.empty()) {
    StatusOr<Overflow> parsed = parseOverflow(overflow);
    if (!parsed.ok())
      return object.fail("overflow", parsed.status().message());
    counts.overflow = *parsed;
  }
  if (object.has("seed")) {
    QRT_ASSIGN_OR_RETURN(const Json *seed, object.member("seed"));
    const auto *number = seed->get_ptr<const Json::number_unsigned_t *>();
    if (!number)
      return object.fail("seed", "expected a number of 64 bits without a sign");
    counts.seed = *number;
  }
  for (auto [key, field] : {std::pair{"dropped_documents", &counts.droppedDocuments},
                            {"dropped_tokens", &counts.droppedTokens},
                            {"cut_documents", &counts.cutDocuments},
                            {"cut_tokens", &counts.cutTokens},
                            {"split_documents", &counts.splitDocuments},
                            {"split_pieces", &counts.splitPieces},
                            {"lost_targets", &counts.lostTargets},
                            {"naive_batch", &counts.naiveBatch},
                            {"naive_slots", &counts.naiveSlots}}) {
    QRT_ASSIGN_OR_RETURN(*field, object.integer(key, 0, kMaxCount));
  }
  return counts;
}

} // namespace

std::string_view dataKindName(DataKind kind) { return kind == DataKind::Tokens ? "tokens" : "packed"; }

std::string_view overflowName(Overflow overflow) {
  switch (overflow) {
  case Overflow::Drop:
    return "drop";
  case Overflow::Cut:
    return "cut";
  case Overflow::Split:
    return "split";
  }
  return "?";
}

StatusOr<Overflow> parseOverflow(std::string_view name) {
  for (Overflow overflow : {Overflow::Drop, Overflow::Cut, Overflow::Split})
    if (name == overflowName(overflow))
      return overflow;
  return error(StatusCode::InvalidUsage, "overflow: expected drop, cut or split, got {}", quoteForMessage(name));
}

StatusOr<Manifest> parseManifest(std::string_view text, const std::string &source) {
  QRT_ASSIGN_OR_RETURN(Json json, parseJson(text, source, kManifestLimits));
  QRT_ASSIGN_OR_RETURN(JsonObject root, JsonObject::root(json, source));
  // First, since another version may mean anything by the other keys.
  QRT_ASSIGN_OR_RETURN(int64_t version, root.integer("schema_version"));
  if (version != Manifest::kSchemaVersion)
    return root.fail("schema_version", fmt::format("the data has version {}, this program reads version {}", version,
                                                   Manifest::kSchemaVersion));
  Manifest manifest;
  QRT_ASSIGN_OR_RETURN(std::string kind, root.string("kind"));
  if (kind == dataKindName(DataKind::Packed))
    manifest.kind = DataKind::Packed;
  else if (kind != dataKindName(DataKind::Tokens))
    return root.fail("kind", fmt::format("expected 'tokens' or 'packed', got {}", quoteForMessage(kind)));
  QRT_ASSIGN_OR_RETURN(manifest.vocabularyBound, root.integer("vocabulary_bound", 1, BucketShape::kMaxTokens));
  QRT_ASSIGN_OR_RETURN(manifest.tokenizerSha256, readHash(root, "tokenizer_sha256", /*mayBeEmpty=*/true));
  QRT_ASSIGN_OR_RETURN(manifest.templateSha256, readHash(root, "template_sha256", /*mayBeEmpty=*/true));
  QRT_ASSIGN_OR_RETURN(manifest.documents, root.integer("documents", 0, kMaxCount));
  QRT_ASSIGN_OR_RETURN(manifest.tokens, root.integer("tokens", 0, kMaxCount));
  QRT_ASSIGN_OR_RETURN(manifest.trainedTokens, root.integer("trained_tokens", 0, kMaxCount));
  if (manifest.kind == DataKind::Packed) {
    QRT_ASSIGN_OR_RETURN(manifest.rowLength, root.integer("row_length", 1, BucketShape::kMaxTokens));
    // Not more than the tokens, so rows x row_length fits: 48 bits times 31 would not.
    QRT_ASSIGN_OR_RETURN(manifest.rows, root.integer("rows", 0, std::min(manifest.tokens, int64_t{1} << 32)));
    QRT_ASSIGN_OR_RETURN(int64_t slots, root.integer("slots"));
    if (slots != manifest.slots())
      return root.fail("slots", fmt::format("expected rows x row_length = {}, got {}", manifest.slots(), slots));
    if (root.has("packing")) {
      QRT_ASSIGN_OR_RETURN(JsonObject packing, root.object("packing"));
      QRT_ASSIGN_OR_RETURN(manifest.packing, readPacking(packing));
    }
  }

  QRT_ASSIGN_OR_RETURN(const Json::array_t *shards, root.array("shards"));
  std::set<std::string> files;
  Manifest sum;
  for (const Json &value : *shards) {
    std::string place = fmt::format("shards[{}]", manifest.shards.size());
    QRT_ASSIGN_OR_RETURN(ShardManifest shard, readShard(value, source, place, manifest));
    if (!files.insert(shard.file).second)
      return root.fail(place, fmt::format("{} is there twice", quoteForMessage(shard.file)));
    sum.documents += shard.documents;
    sum.tokens += shard.tokens;
    sum.trainedTokens += shard.trainedTokens;
    sum.rows += static_cast<int64_t>(shard.rows.size());
    if (sum.tokens > kMaxCount)
      return root.fail(place, fmt::format("more than {} tokens", kMaxCount));
    manifest.shards.push_back(std::move(shard));
  }
  for (auto [key, said, found] : {std::tuple{"documents", manifest.documents, sum.documents},
                                  {"tokens", manifest.tokens, sum.tokens},
                                  {"trained_tokens", manifest.trainedTokens, sum.trainedTokens},
                                  {"rows", manifest.rows, sum.rows}})
    if (said != found)
      return root.fail(key, fmt::format("is {}, but the shards have {}", said, found));
  if (manifest.documents == 0)
    return error(StatusCode::InvalidData, "{}: there are no documents", source);
  return manifest;
}

StatusOr<Manifest> readManifest(const std::string &directory) {
  std::string path = joinPath(directory, "manifest.json");
  QRT_ASSIGN_OR_RETURN(std::string text, readFile(path, kManifestLimits.maxBytes));
  return parseManifest(text, path);
}

std::string printManifest(const Manifest &manifest) {
  bool packed = manifest.kind == DataKind::Packed;
  std::string text = fmt::format("{{\n  \"schema_version\": {},\n  \"kind\": \"{}\",\n  \"vocabulary_bound\": {},\n"
                                 "  \"tokenizer_sha256\": \"{}\",\n  \"template_sha256\": \"{}\",\n"
                                 "  \"documents\": {},\n  \"tokens\": {},\n  \"trained_tokens\": {},\n",
                                 Manifest::kSchemaVersion, dataKindName(manifest.kind), manifest.vocabularyBound,
                                 manifest.tokenizerSha256, manifest.templateSha256, manifest.documents, manifest.tokens,
                                 manifest.trainedTokens);
  if (packed)
    text += fmt::format("  \"row_length\": {},\n  \"rows\": {},\n  \"slots\": {},\n", manifest.rowLength, manifest.rows,
                        manifest.slots());
  if (manifest.packing) {
    const PackCounts &counts = *manifest.packing;
    text += "  \"packing\": {";
    if (counts.overflow)
      text += fmt::format("\"overflow\": \"{}\", ", overflowName(*counts.overflow));
    if (counts.seed)
      text += fmt::format("\"seed\": {}, ", *counts.seed);
    text += fmt::format("\"dropped_documents\": {}, \"dropped_tokens\": {}, \"cut_documents\": {}, \"cut_tokens\": {}, "
                        "\"split_documents\": {}, \"split_pieces\": {}, \"lost_targets\": {}, \"naive_batch\": {}, "
                        "\"naive_slots\": {}}},\n",
                        counts.droppedDocuments, counts.droppedTokens, counts.cutDocuments, counts.cutTokens,
                        counts.splitDocuments, counts.splitPieces, counts.lostTargets, counts.naiveBatch,
                        counts.naiveSlots);
  }
  text += "  \"shards\": [";
  for (size_t i = 0; i < manifest.shards.size(); ++i) {
    const ShardManifest &shard = manifest.shards[i];
    text += fmt::format("{}\n    {{\"file\": {}, \"sha256\": \"{}\",\n     \"documents\": {}, \"tokens\": {}, "
                        "\"trained_tokens\": {}",
                        i ? "," : "", Json(shard.file).dump(), shard.sha256, shard.documents, shard.tokens,
                        shard.trainedTokens);
    if (packed) {
      text += ",\n     \"rows\": [";
      for (size_t r = 0; r < shard.rows.size(); ++r) {
        const BucketShape &row = shard.rows[r];
        text += fmt::format("{}[{}, {}, {}, {}]", r ? ", " : "", row.tokens, row.documents, row.longest, row.trained);
      }
      text += "]";
    }
    text += "}";
  }
  text += "\n  ]\n}\n";
  return text;
}

} // namespace qrt
