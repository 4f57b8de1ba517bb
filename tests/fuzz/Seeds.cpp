// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/fuzz/Seeds.h"

#include "runtime/cost/MachineRates.h"
#include "runtime/data/Manifest.h"
#include "tests/unit/runtime/support/SafetensorsBytes.h"

#include <cstring>

namespace qrt::fuzz {

namespace {

template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

} // namespace

std::vector<std::string> safetensorsSeeds() {
  return {test::safetensorsBytes(
              R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
              R"("b":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]},)"
              R"("c":{"dtype":"U8","shape":[],"data_offsets":[32,33]},)"
              R"("d":{"dtype":"I64","shape":[0,5],"data_offsets":[33,33]}}  )",
              33),
          test::safetensorsBytes("{}", 0),
          test::safetensorsBytes(R"({"x.weight":{"dtype":"U8","shape":[1,1,1,1,9],"data_offsets":[0,9]}})", 9)};
}

std::vector<std::string> indexSeeds() {
  return {R"({"metadata":{"total_size":148},"weight_map":{"a":"model-00001-of-00002.safetensors",)"
          R"("b":"model-00002-of-00002.safetensors","c.d":"x"}})"};
}

std::vector<std::string> shardSeeds() {
  std::vector<int64_t> documents = {0, 4, 5, 11, 11, 20};
  std::vector<int64_t> rows = {0, 3, 5};
  std::vector<int32_t> ids;
  std::vector<uint8_t> mask;
  for (int32_t t = 0; t < 20; ++t) {
    ids.push_back(t * 3 % 64);
    mask.push_back(t % 2 == 1 && t != 5 && t != 11);
  }
  // Between them the two have each tensor at an odd place too.
  std::string packed = test::safetensorsBytes(R"({"doc_offsets":{"dtype":"I64","shape":[6],"data_offsets":[0,48]},)"
                                              R"("row_offsets":{"dtype":"I64","shape":[3],"data_offsets":[48,72]},)"
                                              R"("input_ids":{"dtype":"I32","shape":[20],"data_offsets":[72,152]},)"
                                              R"("loss_mask":{"dtype":"U8","shape":[20],"data_offsets":[152,172]}})",
                                              0) +
                       bytesOf(documents) + bytesOf(rows) + bytesOf(ids) + bytesOf(mask);
  std::string tokens = test::safetensorsBytes(R"({"loss_mask":{"dtype":"U8","shape":[20],"data_offsets":[0,20]},)"
                                              R"("input_ids":{"dtype":"I32","shape":[20],"data_offsets":[20,100]},)"
                                              R"("doc_offsets":{"dtype":"I64","shape":[6],"data_offsets":[100,148]}} )",
                                              0) +
                       bytesOf(mask) + bytesOf(ids) + bytesOf(documents);
  return {packed, tokens};
}

std::vector<std::string> manifestSeeds() {
  std::string hash(64, '0');
  Manifest tokens;
  tokens.vocabularyBound = 64;
  tokens.tokenizerSha256 = hash;
  tokens.documents = 5;
  tokens.tokens = 30;
  tokens.trainedTokens = 11;
  tokens.shards = {{"shard-00000.safetensors", hash, 3, 20, 10, {}}, {"shard-00001.safetensors", hash, 2, 10, 1, {}}};
  Manifest packed = tokens;
  packed.kind = DataKind::Packed;
  packed.rowLength = 16;
  packed.rows = 3;
  packed.packing = PackCounts{
      .overflow = Overflow::Cut, .seed = 3, .cutDocuments = 1, .cutTokens = 9, .naiveBatch = 8, .naiveSlots = 80};
  packed.shards[0].rows = {{12, 2, 8, 7}, {8, 1, 8, 3}};
  packed.shards[1].rows = {{10, 2, 5, 1}};
  return {printManifest(tokens), printManifest(packed)};
}

std::vector<std::string> jsonlSeeds() {
  return {"{\"input_ids\": [5, 6, 7, 8], \"labels\": [-100, -100, 7, 8]}\n"
          "{\"labels\": [1, 2], \"input_ids\": [1, 2], \"attention_mask\": [1, 1], \"text\": \"x\\u00e9\"}\n\n"
          "{\"input_ids\": [], \"labels\": []}\n",
          "{\"input_ids\":[63],\"labels\":[63]}"};
}

std::vector<std::string> machineSeeds() {
  return {printMachineRates(*defaultMachineRates("sm_90a")),
          R"({"target":"cpu","machine":"two","copy_bytes_per_second":2e10,"launch_seconds":5e-6,)"
          R"("f32_products":{"flops_per_second":4e11,"a_bt":1,"a_b":1,"at_b":1},)"
          R"("bf16_products":{"flops_per_second":4e11,"a_bt":0.9,"a_b":1,"at_b":1},"kernels":{"swiglu":0.5}})"};
}

std::vector<std::string> productSeeds() {
  std::string digits(128, '5');
  return {R"({"gpu":"NVIDIA H200","library":"cuBLASLt 13.1.0","products":{"8x4x2 bf16 -> f32, a b":{"algorithm":")" +
              digits + R"(","reason":"timed"},"8x4x2 f32 -> f32, a b":{"algorithm":")" + digits +
              R"(","reason":"given"}}})",
          R"({"gpu":"","library":"","products":{}})"};
}

} // namespace qrt::fuzz
