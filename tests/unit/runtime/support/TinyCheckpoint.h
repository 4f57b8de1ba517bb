// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hugging Face directories for TinyProgram.
#ifndef TESTS_UNIT_RUNTIME_SUPPORT_TINYCHECKPOINT_H
#define TESTS_UNIT_RUNTIME_SUPPORT_TINYCHECKPOINT_H

#include "runtime/data/Checkpoint.h"
#include "runtime/train/Convert.h"
#include "tests/unit/runtime/support/StatusMatchers.h"

#include <random>

namespace qrt::test {

/// A tensor and its bytes.
struct TinyTensor {
  TensorSpec spec;
  std::vector<uint8_t> bytes;

  bool operator==(const TinyTensor &) const = default;
};

/// Normal values.
inline TinyTensor tinyTensor(const std::string &name, DType dtype, const std::vector<int64_t> &shape) {
  TinyTensor tensor{{name, dtype, shape}, {}};
  std::mt19937 random(static_cast<uint32_t>(name.size()) * 31 + static_cast<uint8_t>(name.back()));
  std::normal_distribution<float> normal(0, 0.1F);
  std::vector<float> values(static_cast<size_t>(*elementCount(shape)));
  for (float &value : values)
    value = normal(random);
  tensor.bytes.resize(values.size() * static_cast<size_t>(byteSize(dtype)));
  if (isFloatType(dtype))
    bytesFromFloats(dtype, values, tensor.bytes);
  else
    for (uint8_t &byte : tensor.bytes)
      byte = static_cast<uint8_t>(random());
  return tensor;
}

/// The tensors of TinyModel's default sizes: most are bf16, one f32, one f16; vision and draft tensors lie in between;
/// the order is none of names.
inline std::vector<TinyTensor> tinyTensors(const std::string &prefix = "model.language_model.") {
  return {tinyTensor("lm_head.weight", DType::BF16, {23, 8}),
          tinyTensor(prefix + "norm.weight", DType::F32, {8}),
          tinyTensor("model.visual.patch.weight", DType::BF16, {3, 5}),
          tinyTensor(prefix + "layers.0.mlp.up_proj.weight", DType::BF16, {12, 8}),
          tinyTensor(prefix + "layers.0.mlp.gate_proj.weight", DType::BF16, {12, 8}),
          tinyTensor(prefix + "layers.0.mlp.down_proj.weight", DType::F16, {8, 12}),
          tinyTensor("mtp.position_ids", DType::I64, {7}),
          tinyTensor(prefix + "layers.0.input_layernorm.weight", DType::BF16, {8}),
          tinyTensor(prefix + "embed_tokens.weight", DType::BF16, {23, 8})};
}

inline void writeTensors(const std::string &directory, const std::vector<TinyTensor> &tensors,
                         int64_t maxShardBytes = int64_t{1} << 40) {
  std::vector<TensorSpec> specs;
  for (const TinyTensor &tensor : tensors)
    specs.push_back(tensor.spec);
  CheckpointWriterOptions options;
  options.maxShardBytes = maxShardBytes;
  StatusOr<CheckpointWriter> writer = CheckpointWriter::create(directory, specs, options);
  ASSERT_OK(writer);
  for (const TinyTensor &tensor : tensors)
    ASSERT_OK(writer->append(tensor.spec.name, tensor.bytes));
  ASSERT_OK(writer->finish());
}

/// All tensors of a directory, file after file.
inline std::vector<TinyTensor> readTensors(const std::string &directory) {
  StatusOr<CheckpointReader> reader = CheckpointReader::open(directory);
  EXPECT_OK(reader);
  std::vector<TinyTensor> tensors;
  if (reader.ok())
    for (const SafetensorsFile &file : reader->files())
      for (const TensorSpec &spec : file.tensors()) {
        std::span<const uint8_t> bytes = file.find(spec.name)->bytes;
        tensors.push_back({spec, {bytes.begin(), bytes.end()}});
      }
  return tensors;
}

} // namespace qrt::test

#endif // TESTS_UNIT_RUNTIME_SUPPORT_TINYCHECKPOINT_H
