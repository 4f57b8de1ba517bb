// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "models/qwen/Config.h"

using qrt::Json;
using qrt::JsonObject;
using qrt::Status;
using qrt::StatusCode;
using qrt::StatusOr;

namespace qcc::qwen {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 31;
constexpr int64_t kMaxLayers = 4096;
/// Published models have full attention in every fourth layer.
constexpr int64_t kFullAttentionInterval = 4;
constexpr std::string_view kLinearAttention = "linear_attention", kFullAttention = "full_attention";

std::vector<LayerType> layerPattern(int64_t layers, int64_t interval) {
  std::vector<LayerType> types;
  for (int64_t i = 0; i < layers; ++i)
    types.push_back((i + 1) % interval == 0 ? LayerType::FullAttention : LayerType::LinearAttention);
  return types;
}

StatusOr<std::vector<LayerType>> parseLayers(const JsonObject &text) {
  QRT_ASSIGN_OR_RETURN(int64_t count, text.integer("num_hidden_layers", 1, kMaxLayers));
  if (!text.has("layer_types")) {
    QRT_ASSIGN_OR_RETURN(int64_t interval,
                         text.integerOr("full_attention_interval", kFullAttentionInterval, 1, kMaxLayers));
    return layerPattern(count, interval);
  }
  QRT_ASSIGN_OR_RETURN(std::vector<std::string> names, text.strings("layer_types"));
  if (static_cast<int64_t>(names.size()) != count)
    return text.fail("layer_types",
                     fmt::format("expected {} entries, one a hidden layer, got {}", count, names.size()));
  std::vector<LayerType> types;
  for (const std::string &name : names) {
    if (name != kLinearAttention && name != kFullAttention)
      return text.fail("layer_types", fmt::format("expected {} or {}, got {}", kLinearAttention, kFullAttention,
                                                  qrt::quoteForMessage(name)));
    types.push_back(name == kFullAttention ? LayerType::FullAttention : LayerType::LinearAttention);
  }
  return types;
}

/// theta and the partial factor: in `rope_parameters`, in older files at the root. Absent: as in transformers.
Status parseRope(const JsonObject &text, Config &config) {
  constexpr double kDefaultTheta = 10000, kDefaultFactor = 0.25;
  QRT_ASSIGN_OR_RETURN(config.ropeTheta, text.numberOr("rope_theta", kDefaultTheta));
  QRT_ASSIGN_OR_RETURN(config.partialRotaryFactor, text.numberOr("partial_rotary_factor", kDefaultFactor));
  for (const char *key : {"rope_parameters", "rope_scaling"}) {
    if (!text.has(key) || (*text.member(key))->is_null())
      continue;
    QRT_ASSIGN_OR_RETURN(JsonObject rope, text.object(key));
    QRT_ASSIGN_OR_RETURN(std::string type, rope.stringOr("rope_type", "default"));
    if (type != "default")
      return rope.fail("rope_type", "expected \"default\", got " + qrt::quoteForMessage(type));
    QRT_ASSIGN_OR_RETURN(config.ropeTheta, rope.numberOr("rope_theta", config.ropeTheta));
    QRT_ASSIGN_OR_RETURN(config.partialRotaryFactor,
                         rope.numberOr("partial_rotary_factor", config.partialRotaryFactor));
  }
  if (!(config.ropeTheta > 1))
    return text.fail("rope_theta", fmt::format("expected a number above 1, got {}", config.ropeTheta));
  if (!(config.partialRotaryFactor > 0 && config.partialRotaryFactor <= 1))
    return text.fail("partial_rotary_factor",
                     fmt::format("expected a number in (0, 1], got {}", config.partialRotaryFactor));
  int64_t dims = config.rotaryDims();
  if (dims < 2 || dims % 2 != 0)
    return text.fail(
        "partial_rotary_factor",
        fmt::format("expected head_dim {} times it to be even and at least 2, got {}", config.headDim, dims));
  return Status();
}

/// What would change the mathematics of docs/model.md must have the one value it was written for.
Status checkFixed(const JsonObject &text) {
  QRT_ASSIGN_OR_RETURN(std::string activation, text.stringOr("hidden_act", "silu"));
  if (activation != "silu")
    return text.fail("hidden_act", "expected \"silu\", got " + qrt::quoteForMessage(activation));
  QRT_ASSIGN_OR_RETURN(bool bias, text.booleanOr("attention_bias", false));
  if (bias)
    return text.fail("attention_bias", "expected false, got true");
  QRT_ASSIGN_OR_RETURN(double dropout, text.numberOr("attention_dropout", 0));
  if (dropout != 0)
    return text.fail("attention_dropout", fmt::format("expected 0, got {}", dropout));
  QRT_ASSIGN_OR_RETURN(std::string gate, text.stringOr("output_gate_type", "swish"));
  if (gate != "swish" && gate != "silu")
    return text.fail("output_gate_type", "expected \"swish\", got " + qrt::quoteForMessage(gate));
  return Status();
}

Status checkRatio(const JsonObject &text, const char *many, int64_t manyValue, const char *few, int64_t fewValue) {
  if (manyValue % fewValue != 0)
    return text.fail(many, fmt::format("expected a multiple of {} ({}), got {}", few, fewValue, manyValue));
  return Status();
}

} // namespace

StatusOr<Config> parseConfig(const Json &json, const std::string &source) {
  QRT_ASSIGN_OR_RETURN(JsonObject root, JsonObject::root(json, source));
  JsonObject text = root;
  if (root.has("text_config")) {
    QRT_ASSIGN_OR_RETURN(text, root.object("text_config"));
  }
  QRT_ASSIGN_OR_RETURN(std::string modelType, root.string("model_type"));
  if (modelType != "qwen3_5" && modelType != "qwen3_5_text")
    return qrt::error(StatusCode::Unsupported, "{}: model_type: expected qwen3_5 or qwen3_5_text, got {}", source,
                      qrt::quoteForMessage(modelType));
  QRT_RETURN_IF_ERROR(checkFixed(text));

  Config config;
  const struct {
    const char *key;
    int64_t Config::*field;
  } extents[] = {
      {"vocab_size", &Config::vocabulary},
      {"hidden_size", &Config::hidden},
      {"intermediate_size", &Config::intermediate},
      {"num_attention_heads", &Config::heads},
      {"num_key_value_heads", &Config::kvHeads},
      {"head_dim", &Config::headDim},
      {"linear_num_key_heads", &Config::gdnKeyHeads},
      {"linear_num_value_heads", &Config::gdnValueHeads},
      {"linear_key_head_dim", &Config::gdnKeyDim},
      {"linear_value_head_dim", &Config::gdnValueDim},
      {"linear_conv_kernel_dim", &Config::convTaps},
  };
  for (const auto &extent : extents) {
    QRT_ASSIGN_OR_RETURN(config.*extent.field, text.integer(extent.key, 1, kMaxExtent));
  }
  QRT_RETURN_IF_ERROR(checkRatio(text, "num_attention_heads", config.heads, "num_key_value_heads", config.kvHeads));
  QRT_RETURN_IF_ERROR(
      checkRatio(text, "linear_num_value_heads", config.gdnValueHeads, "linear_num_key_heads", config.gdnKeyHeads));
  QRT_ASSIGN_OR_RETURN(config.layers, parseLayers(text));
  QRT_RETURN_IF_ERROR(parseRope(text, config));
  QRT_ASSIGN_OR_RETURN(config.rmsNormEps, text.numberOr("rms_norm_eps", config.rmsNormEps));
  if (!(config.rmsNormEps > 0 && config.rmsNormEps < 1))
    return text.fail("rms_norm_eps", fmt::format("expected a number in (0, 1), got {}", config.rmsNormEps));
  QRT_ASSIGN_OR_RETURN(config.initializerRange, text.numberOr("initializer_range", config.initializerRange));
  QRT_ASSIGN_OR_RETURN(config.maxPositions,
                       text.integerOr("max_position_embeddings", config.maxPositions, 1, kMaxExtent));
  // A model with other modalities goes by its root's flag, a text-only model by its own: they are the same object.
  QRT_ASSIGN_OR_RETURN(config.tied, root.booleanOr("tie_word_embeddings", false));

  for (const char *key : {"torch_dtype", "dtype"}) {
    QRT_ASSIGN_OR_RETURN(std::string dtype, text.stringOr(key, ""));
    if (dtype == "float32")
      config.dtype = qrt::DType::F32;
    else if (!dtype.empty())
      config.dtype = qrt::DType::BF16;
  }
  return config;
}

Status checkSameMathematics(const Config &expected, const Config &actual, const std::string &source) {
  Json one = toHuggingFace(expected), other = toHuggingFace(actual);
  for (const char *key : {"dtype", "initializer_range", "max_position_embeddings"}) {
    one.erase(key);
    other.erase(key);
  }
  for (const auto &[key, value] : one.items())
    if (other[key] != value)
      return qrt::error(StatusCode::InvalidData, "{}: {}: the program was built for {}, got {}", source, key,
                        value.dump(), other[key].dump());
  return Status();
}

StatusOr<Config> configByName(std::string_view name) {
  const struct {
    std::string_view name;
    int64_t hidden, intermediate, layers, heads, kvHeads, gdnValueHeads;
    bool tied;
  } sizes[] = {
      {"0.8b", 1024, 3584, 24, 8, 2, 16, true},   {"2b", 2048, 6144, 24, 8, 2, 16, true},
      {"4b", 2560, 9216, 32, 16, 4, 32, true},    {"9b", 4096, 12288, 32, 16, 4, 32, false},
      {"27b", 5120, 17408, 64, 24, 4, 48, false},
  };
  for (const auto &size : sizes) {
    if (size.name != name)
      continue;
    Config config;
    config.hidden = size.hidden;
    config.intermediate = size.intermediate;
    config.heads = size.heads;
    config.kvHeads = size.kvHeads;
    config.gdnValueHeads = size.gdnValueHeads;
    config.tied = size.tied;
    config.layers = layerPattern(size.layers, kFullAttentionInterval);
    return config;
  }
  return qrt::error(StatusCode::InvalidUsage, "--size: expected 0.8b, 2b, 4b, 9b or 27b, got {}",
                    qrt::quoteForMessage(name));
}

Status setLayers(Config &config, int64_t layers) {
  if (layers < 1 || layers > kMaxLayers)
    return qrt::error(StatusCode::InvalidUsage, "--layers: expected a number from 1 to {}, got {}", kMaxLayers, layers);
  std::vector<LayerType> pattern = layerPattern(layers, kFullAttentionInterval);
  for (size_t i = 0; i < pattern.size() && i < config.layers.size(); ++i)
    pattern[i] = config.layers[i];
  config.layers = std::move(pattern);
  return Status();
}

Json toHuggingFace(const Config &config) {
  Json types = Json::array();
  for (LayerType type : config.layers)
    types.push_back(type == LayerType::FullAttention ? kFullAttention : kLinearAttention);
  return Json{
      {"architectures", {"Qwen3_5ForCausalLM"}},
      {"model_type", "qwen3_5_text"},
      {"dtype", config.dtype == qrt::DType::F32 ? "float32" : "bfloat16"},
      {"vocab_size", config.vocabulary},
      {"hidden_size", config.hidden},
      {"intermediate_size", config.intermediate},
      {"num_hidden_layers", config.layers.size()},
      {"num_attention_heads", config.heads},
      {"num_key_value_heads", config.kvHeads},
      {"head_dim", config.headDim},
      {"linear_num_key_heads", config.gdnKeyHeads},
      {"linear_num_value_heads", config.gdnValueHeads},
      {"linear_key_head_dim", config.gdnKeyDim},
      {"linear_value_head_dim", config.gdnValueDim},
      {"linear_conv_kernel_dim", config.convTaps},
      {"layer_types", types},
      {"rms_norm_eps", config.rmsNormEps},
      {"rope_parameters",
       {{"rope_type", "default"},
        {"rope_theta", config.ropeTheta},
        {"partial_rotary_factor", config.partialRotaryFactor}}},
      {"initializer_range", config.initializerRange},
      {"max_position_embeddings", config.maxPositions},
      {"tie_word_embeddings", config.tied},
      {"hidden_act", "silu"},
      {"attention_bias", false},
      {"attention_dropout", 0.0},
  };
}

} // namespace qcc::qwen
