// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/fuzz/Targets.h"

#ifdef QCC_HAS_CUDA
#include "runtime/backends/cuda/ProductChoices.h"
#endif
#include "runtime/base/Json.h"
#include "runtime/cost/MachineRates.h"
#include "runtime/data/Batch.h"
#include "runtime/data/Buckets.h"
#include "runtime/data/Checkpoint.h"
#include "runtime/data/Jsonl.h"
#include "runtime/data/Manifest.h"
#include "runtime/data/Safetensors.h"
#include "runtime/data/TokenData.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

namespace qrt::fuzz {

namespace {

/// Not assert: the check is there in every build.
void require(bool holds, const char *promise) {
  if (holds)
    return;
  std::fprintf(stderr, "accepted, although not: %s\n", promise);
  std::abort();
}

#define REQUIRE(condition) require(condition, #condition)

std::string_view textOf(std::span<const uint8_t> input) {
  return {reinterpret_cast<const char *>(input.data()), input.size()};
}

/// An error has a code and says where.
bool refused(const Status &status) {
  if (status.ok())
    return false;
  REQUIRE(status.message().find("input") != std::string::npos);
  REQUIRE(status.code() == StatusCode::InvalidData || status.code() == StatusCode::Unsupported);
  return true;
}

void checkRow(const TokenRow &row, const BucketShape &shape) {
  REQUIRE(rowShapeOf(row) == shape);
  HostBatch batch;
  REQUIRE(fillBatch(row, shape.trained == 0 ? BucketShape::anyOf(shape.tokens) : shape, batch).ok());
  int64_t labels = 0;
  for (size_t d = 0; d + 1 < row.documentOffsets.size(); ++d) {
    size_t begin = static_cast<size_t>(row.documentOffsets[d]);
    size_t end = static_cast<size_t>(row.documentOffsets[d + 1]);
    REQUIRE(begin < end && end <= row.ids.size());
    REQUIRE(row.lossMask[begin] == 0);
    REQUIRE(batch.labels[end - 1] == -100);
    for (size_t t = begin; t + 1 < end; ++t) {
      REQUIRE(batch.labels[t] == (row.lossMask[t + 1] ? row.ids[t + 1] : -100));
      labels += batch.labels[t] != -100;
    }
  }
  REQUIRE(labels == shape.trained && batch.trained() == labels);
}

} // namespace

bool readJson(std::span<const uint8_t> input) {
  StatusOr<Json> json = parseJson(textOf(input), "input", {.maxBytes = 1 << 20, .maxValues = 10000});
  if (refused(json.status()))
    return false;
  REQUIRE(isUtf8(textOf(input)));
  std::string printed = json->dump();
  REQUIRE(isUtf8(printed));
  StatusOr<Json> again = parseJson(printed, "input");
  REQUIRE(again.ok() && again->dump() == printed);
  return true;
}

bool readSafetensors(std::span<const uint8_t> input) {
  StatusOr<SafetensorsFile> file = SafetensorsFile::parse(input, "input");
  if (refused(file.status()))
    return false;
  uint64_t headerBytes = 0;
  std::memcpy(&headerBytes, input.data(), sizeof(headerBytes));
  const uint8_t *next = input.data() + sizeof(headerBytes) + headerBytes;
  std::set<std::string> names;
  size_t touched = 0;
  for (const TensorSpec &spec : file->tensors()) {
    REQUIRE(names.insert(spec.name).second);
    std::optional<TensorView> view = file->find(spec.name);
    REQUIRE(view && *view->spec == spec);
    // Each begins where the last one ended.
    REQUIRE(view->bytes.data() == next);
    next += view->bytes.size();
    REQUIRE(next <= input.data() + input.size());
    long double bytes = static_cast<long double>(byteSize(spec.dtype));
    for (int64_t extent : spec.shape) {
      REQUIRE(extent >= 0);
      bytes *= static_cast<long double>(extent);
    }
    REQUIRE(bytes == static_cast<long double>(view->bytes.size()));
    if (!view->bytes.empty())
      touched += view->bytes.front() + view->bytes.back();
  }
  REQUIRE(next == input.data() + input.size());
  // Uses what was read, so that it is read.
  REQUIRE(touched <= 510 * file->tensors().size());
  return true;
}

bool readSafetensorsIndex(std::span<const uint8_t> input) {
  StatusOr<SafetensorsIndex> index = SafetensorsIndex::parse(textOf(input), "input");
  if (refused(index.status()))
    return false;
  REQUIRE(!index->shardOf.empty());
  for (const auto &[tensor, shard] : index->shardOf) {
    REQUIRE(!shard.empty() && shard != "." && shard != "..");
    REQUIRE(shard.find('/') == std::string::npos && shard.find('\0') == std::string::npos);
  }
  return true;
}

bool readTokenShard(std::span<const uint8_t> input) {
  StatusOr<SafetensorsFile> file = SafetensorsFile::parse(input, "input");
  if (refused(file.status()))
    return false;
  bool packed = file->find("row_offsets").has_value();
  StatusOr<TokenShard> shard = TokenShard::check(
      *std::move(file), {packed ? DataKind::Packed : DataKind::Tokens, shardVocabulary, shardRowLength});
  if (refused(shard.status()))
    return false;

  TokenRow all;
  shard->append(0, shard->documents(), all);
  REQUIRE(all.tokens() == shard->tokens() && all.documents() == shard->documents());
  for (int32_t id : all.ids)
    REQUIRE(id >= 0 && id < shardVocabulary);
  int64_t trained = 0;
  for (uint8_t target : all.lossMask) {
    REQUIRE(target <= 1);
    trained += target;
  }
  REQUIRE(trained == shard->trainedTokens());
  checkRow(all, rowShapeOf(all));
  REQUIRE(rowShapeOf(all).trained == trained);

  int64_t documents = 0;
  for (int64_t r = 0; r < shard->rows(); ++r) {
    REQUIRE(shard->rowBegin(r) == documents);
    documents = shard->rowBegin(r + 1);
    TokenRow row;
    shard->append(shard->rowBegin(r), documents, row);
    REQUIRE(row.tokens() >= 1 && row.tokens() <= shardRowLength);
    checkRow(row, shard->rowShapes()[static_cast<size_t>(r)]);
  }
  REQUIRE(!packed || documents == shard->documents());
  return true;
}

bool readManifest(std::span<const uint8_t> input) {
  StatusOr<Manifest> manifest = parseManifest(textOf(input), "input");
  if (refused(manifest.status()))
    return false;
  Manifest sum;
  std::set<std::string> files;
  for (const ShardManifest &shard : manifest->shards) {
    REQUIRE(files.insert(shard.file).second);
    REQUIRE(!shard.file.empty() && shard.file != ".." && shard.file.find('/') == std::string::npos);
    sum.documents += shard.documents;
    sum.tokens += shard.tokens;
    sum.trainedTokens += shard.trainedTokens;
    sum.rows += static_cast<int64_t>(shard.rows.size());
  }
  REQUIRE(sum.documents == manifest->documents && manifest->documents > 0);
  REQUIRE(sum.tokens == manifest->tokens && manifest->tokens >= manifest->documents);
  REQUIRE(sum.trainedTokens == manifest->trainedTokens);
  REQUIRE(manifest->trainedTokens <= manifest->tokens - manifest->documents);
  REQUIRE(sum.rows == manifest->rows);
  StatusOr<Manifest> again = parseManifest(printManifest(*manifest), "input");
  REQUIRE(again.ok() && *again == *manifest);

  std::vector<BucketShape> buckets = chooseBuckets(*manifest);
  for (const BucketShape &bucket : buckets)
    REQUIRE(parseBucket(printBucket(bucket)).ok());
  for (const ShardManifest &shard : manifest->shards)
    for (const BucketShape &row : shard.rows) {
      REQUIRE(row.tokens >= 1 && row.tokens <= manifest->rowLength);
      REQUIRE(findBucket(buckets, row).ok());
    }
  return true;
}

bool readJsonl(std::span<const uint8_t> input) {
  JsonlReader reader(textOf(input), "input", shardVocabulary);
  JsonlDocument document;
  int64_t line = 0;
  while (true) {
    StatusOr<bool> more = reader.next(document);
    if (refused(more.status()))
      return false;
    if (!*more)
      return true;
    REQUIRE(reader.line() > line);
    line = reader.line();
    REQUIRE(document.ids.size() == document.lossMask.size());
    REQUIRE(document.ids.empty() || document.lossMask[0] == 0);
    for (size_t t = 0; t < document.ids.size(); ++t)
      REQUIRE(document.ids[t] >= 0 && document.ids[t] < shardVocabulary && document.lossMask[t] <= 1);
  }
}

bool readMachineRates(std::span<const uint8_t> input) {
  StatusOr<MachineRates> rates = parseMachineRates(textOf(input), "input");
  if (refused(rates.status()))
    return false;
  REQUIRE(defaultMachineRates(rates->target).ok());
  REQUIRE(quoteForMessage(rates->machine).size() == rates->machine.size() + 2);
  // Of the largest work that there is.
  constexpr Cost kMost{1e30, 0x1p60};
  for (DType dtype : {DType::F32, DType::BF16}) {
    for (int kernel = 0; kernel < kNumKernels; ++kernel) {
      double seconds = predictedSeconds(*rates, static_cast<Kernel>(kernel), dtype, kMost);
      REQUIRE(std::isfinite(seconds) && seconds > 0);
    }
    for (ProductForm form : {ProductForm::ABt, ProductForm::AB, ProductForm::AtB})
      REQUIRE(std::isfinite(predictedProductSeconds(*rates, form, dtype, kMost)));
  }
  REQUIRE(std::isfinite(predictedCopySeconds(*rates, kMost)));
  std::string printed = printMachineRates(*rates);
  StatusOr<MachineRates> again = parseMachineRates(printed, "input");
  REQUIRE(again.ok() && printMachineRates(*again) == printed);
  return true;
}

#ifdef QCC_HAS_CUDA
bool readProductChoices(std::span<const uint8_t> input) {
  StatusOr<cuda::ProductChoices> choices = cuda::ProductChoices::parse(textOf(input), "input");
  if (refused(choices.status()))
    return false;
  std::string printed = choices->print();
  StatusOr<cuda::ProductChoices> again = cuda::ProductChoices::parse(printed, "input");
  REQUIRE(again.ok() && again->print() == printed && again->size() == choices->size());
  REQUIRE(again->checkSameMachine(*choices, "input").ok());
  return true;
}
#endif

} // namespace qrt::fuzz
