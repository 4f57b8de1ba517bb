// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/LoadWeights.h"

#include "tests/unit/runtime/support/TempDirectory.h"
#include "tests/unit/runtime/support/TinyCheckpoint.h"
#include "tests/unit/runtime/support/TinySession.h"

#include <functional>

namespace qrt {
namespace {

using namespace test;

std::vector<float> valuesOf(const TinyTensor &tensor) {
  std::vector<float> values(tensor.bytes.size() / static_cast<size_t>(byteSize(tensor.spec.dtype)));
  floatsFromBytes(tensor.spec.dtype, tensor.bytes, values);
  return values;
}

TEST(LoadWeights, ConvertsEveryTensor) {
  for (DType dtype : {DType::F32, DType::BF16})
    for (std::string prefix : {"model.language_model.", "model."})
      for (int64_t maxShardBytes : {int64_t{1} << 40, int64_t{300}}) {
        TempDirectory directory;
        std::vector<TinyTensor> tensors = tinyTensors(prefix);
        writeTensors(directory.path(), tensors, maxShardBytes);
        std::unique_ptr<Session> session = makeSession({.dtype = dtype});
        StatusOr<WeightSource> source = WeightSource::open(session->program(), directory.path());
        ASSERT_OK(source);
        EXPECT_EQ(source->passedThrough(), (std::vector<std::string>{"model.visual.patch.weight", "mtp.position_ids"}));
        ASSERT_OK(loadWeights(*session, *source));
        for (const TinyTensor &tensor : tensors) {
          int64_t index = source->parameterOf(tensor.spec.name);
          if (index < 0)
            continue;
          const Parameter &parameter = session->program().parameters()[static_cast<size_t>(index)];
          EXPECT_EQ(source->tensorOf(static_cast<size_t>(index)), tensor.spec.name);
          std::vector<float> expected = valuesOf(tensor);
          if (parameter.part(ParameterPart::Master))
            EXPECT_EQ(readFloats(*session, parameter.name, ParameterPart::Master), expected);
          if (parameter.weight().dtype == DType::BF16)
            for (float &value : expected)
              value = f32FromBF16(bf16FromF32(value));
          EXPECT_EQ(readFloats(*session, parameter.name, ParameterPart::Weight), expected) << parameter.name;
          EXPECT_EQ(readFloats(*session, parameter.name, ParameterPart::ExpAvg), std::vector<float>(expected.size()));
        }
      }
}

TEST(LoadWeights, NamesWhatDoesNotFit) {
  Program program = *TinyProgram().build();
  struct Fault {
    std::string message;
    std::function<void(std::vector<TinyTensor> &)> make;
  };
  auto change = [](std::vector<TinyTensor> &tensors, const std::string &end) -> TinyTensor & {
    for (TinyTensor &tensor : tensors)
      if (tensor.spec.name.ends_with(end))
        return tensor;
    std::abort();
  };
  auto replace = [&](std::vector<TinyTensor> &tensors, const std::string &end, DType dtype,
                     const std::vector<int64_t> &shape) {
    TinyTensor &tensor = change(tensors, end);
    tensor = tinyTensor(tensor.spec.name, dtype, shape);
  };
  const Fault faults[] = {
      {"no tensor for parameter 'layers.0.mlp.up_proj.weight': expected one of the names "
       "model.language_model.layers.0.mlp.up_proj.weight, "
       "model.layers.0.mlp.up_proj.weight",
       [&](auto &tensors) { change(tensors, "up_proj.weight").spec.name = "mtp.up"; }},
      {"model.safetensors: tensor 'model.language_model.norm.weight': expected the shape [8], got f32[9]",
       [&](auto &tensors) { replace(tensors, "norm.weight", DType::F32, {9}); }},
      {"tensor 'model.language_model.embed_tokens.weight': expected the shape [23, 8], got bf16[8, 23]",
       [&](auto &tensors) { replace(tensors, "embed_tokens.weight", DType::BF16, {8, 23}); }},
      {"tensor 'model.language_model.layers.0.mlp.down_proj.weight': expected f32, bf16, f16 or f64, got f8e4m3[8, 12]",
       [&](auto &tensors) { replace(tensors, "down_proj.weight", DType::F8E4M3, {8, 12}); }},
      {"parameter 'norm.weight' is there twice, as 'model.language_model.norm.weight' and as 'model.norm.weight'",
       [&](auto &tensors) { tensors.push_back(tinyTensor("model.norm.weight", DType::F32, {8})); }},
      {"tensor 'model.language_model.layers.1.mlp.up_proj.weight', bf16[12, 8], is none of the model's: expected only "
       "its 7 parameters under "
       "'model.language_model.'",
       [&](auto &tensors) {
         tensors.push_back(tinyTensor("model.language_model.layers.1.mlp.up_proj.weight", DType::BF16, {12, 8}));
       }},
      {"tensor 'lm_head.bias'",
       [&](auto &tensors) { tensors.push_back(tinyTensor("lm_head.bias", DType::BF16, {23})); }},
      {"no tensor for parameter 'lm_head.weight'", [&](auto &tensors) { tensors.erase(tensors.begin()); }},
  };
  for (const Fault &fault : faults) {
    TempDirectory directory;
    std::vector<TinyTensor> tensors = tinyTensors();
    fault.make(tensors);
    writeTensors(directory.path(), tensors);
    EXPECT_ERROR(WeightSource::open(program, directory.path()), StatusCode::InvalidData, fault.message);
    EXPECT_ERROR(WeightSource::open(program, directory.path()), StatusCode::InvalidData, directory.path());
  }
}

/// A program without a head of its own.
Program tiedProgram() {
  TinyProgram tiny;
  for (auto &parameter : tiny.builder.program.parameters)
    if (parameter->name == "embed_tokens.weight")
      parameter->tied_names = {"lm_head.weight"};
    else if (parameter->name == "lm_head.weight") {
      parameter->name = "other.weight";
      parameter->checkpoint_names = {"model.language_model.other.weight", "model.other.weight"};
    }
  for (auto &entry : tiny.builder.program.entries)
    for (auto &value : entry->debug)
      if (value->name == "lm_head.weight")
        value->name = "other.weight";
  return *tiny.build();
}

TEST(LoadWeights, ATiedHeadEqualsTheEmbedding) {
  Program program = tiedProgram();
  std::vector<TinyTensor> tensors = tinyTensors();
  tensors.push_back(tinyTensor("model.language_model.other.weight", DType::BF16, {23, 8}));
  auto open = [&] {
    TempDirectory directory;
    writeTensors(directory.path(), tensors);
    return WeightSource::open(program, directory.path());
  };
  EXPECT_ERROR(open(), StatusCode::InvalidData,
               "tensor 'lm_head.weight': it is tied to 'model.language_model.embed_tokens.weight', but element 0 "
               "differs");
  tensors[0] = tinyTensor("lm_head.weight", DType::F32, {23, 8});
  EXPECT_ERROR(open(), StatusCode::InvalidData, "so bf16[23, 8] is expected, got f32[23, 8]");
  tensors[0].spec.dtype = DType::BF16;
  tensors[0].bytes = tensors[8].bytes;
  StatusOr<WeightSource> source = open();
  ASSERT_OK(source);
  EXPECT_EQ(source->parameterOf("lm_head.weight"), source->parameterOf("model.language_model.embed_tokens.weight"));
  tensors[0].bytes[101] ^= 1;
  EXPECT_ERROR(open(), StatusCode::InvalidData, "but element 50 differs");
  tensors[0].bytes[101] ^= 1;
  tensors.push_back(tinyTensor("lm_head.bias", DType::BF16, {23}));
  EXPECT_ERROR(open(), StatusCode::InvalidData, "tensor 'lm_head.bias', bf16[23], is none of the model's");
  tensors.pop_back();
  // And it need not be there.
  tensors.erase(tensors.begin());
  EXPECT_OK(open());
}

} // namespace
} // namespace qrt
