// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shape of a Qwen 3.5-family text model (docs/model.md, Sizes): from a config.json, or by name.
#ifndef MODELS_QWEN_CONFIG_H
#define MODELS_QWEN_CONFIG_H

#include "runtime/base/DType.h"
#include "runtime/base/Json.h"
#include "runtime/base/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace qcc::qwen {

enum class LayerType { LinearAttention, FullAttention };

struct Config {
  int64_t vocabulary = 248320;
  int64_t hidden = 0;
  int64_t intermediate = 0;
  /// Query heads and key-value heads of full attention, and their width.
  int64_t heads = 0, kvHeads = 0, headDim = 256;
  /// Key heads and value heads of the gated delta net, and their widths.
  int64_t gdnKeyHeads = 16, gdnValueHeads = 0, gdnKeyDim = 128, gdnValueDim = 128;
  int64_t convTaps = 4;
  double rmsNormEps = 1e-6;
  double ropeTheta = 1e7;
  double partialRotaryFactor = 0.25;
  double initializerRange = 0.02;
  int64_t maxPositions = 262144;
  bool tied = false;
  std::vector<LayerType> layers;
  /// What weights and activations are stored in: F32 or BF16.
  qrt::DType dtype = qrt::DType::BF16;

  int64_t rotaryDims() const { return static_cast<int64_t>(static_cast<double>(headDim) * partialRotaryFactor); }
  int64_t gdnKeyWidth() const { return gdnKeyHeads * gdnKeyDim; }
  int64_t gdnValueWidth() const { return gdnValueHeads * gdnValueDim; }
};

/// Reads a config.json of Hugging Face, the text model's keys at its root or in `text_config`. InvalidData names
/// `source`, the key, what was expected and what came; a model of another architecture is Unsupported.
qrt::StatusOr<Config> parseConfig(const qrt::Json &json, const std::string &source);

/// InvalidData, naming `source` and the key, unless `actual` is the model `expected`: storage, initial values and the
/// greatest position, which change no result, may differ.
qrt::Status checkSameMathematics(const Config &expected, const Config &actual, const std::string &source);

/// A published size: 0.8b, 2b, 4b, 9b or 27b. InvalidUsage for another name.
qrt::StatusOr<Config> configByName(std::string_view name);

/// Keeps the first `layers` layers, or repeats the pattern of four beyond them. InvalidUsage if not positive.
qrt::Status setLayers(Config &config, int64_t layers);

/// A config.json for a text-only checkpoint (Qwen3_5ForCausalLM) of this shape.
qrt::Json toHuggingFace(const Config &config);

} // namespace qcc::qwen

#endif // MODELS_QWEN_CONFIG_H
