// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parameters of the model by name, shape, type and initial value (docs/model.md, Weights).
#ifndef MODELS_QWEN_WEIGHTMAP_H
#define MODELS_QWEN_WEIGHTMAP_H

#include "compiler/dsl/Tensor.h"
#include "models/qwen/Config.h"

namespace qcc::qwen {

/// Declares and reads the model's parameters. Their symbols are the checkpoint's names without the prefix of the model
/// ("layers.0.mlp.up_proj.weight").
class Weights {
public:
  Weights(dsl::Graph &graph, const Config &config) : graph_(graph), config_(config) {}

  /// Beginnings of the names of what a published checkpoint has beside the text model: draft and vision parts.
  static llvm::ArrayRef<llvm::StringRef> otherTensors();

  /// [vocabulary, hidden]; also the head's weight where the two are tied: then a checkpoint may have it twice.
  dsl::Tensor embedding();
  dsl::Tensor head();
  /// A projection, [out, in], normally distributed.
  dsl::Tensor projection(const llvm::Twine &name, int64_t out, int64_t in);
  /// The weight of a zero-centred norm, [size].
  dsl::Tensor norm(const llvm::Twine &name, int64_t size);
  /// The weight of the gated norm, [gdnValueDim], f32.
  dsl::Tensor gatedNorm(const llvm::Twine &name);
  /// [channels, 1, taps].
  dsl::Tensor convolution(const llvm::Twine &name, int64_t channels);
  /// [gdnValueHeads], f32.
  dsl::Tensor aLog(const llvm::Twine &name);
  /// [gdnValueHeads].
  dsl::Tensor dtBias(const llvm::Twine &name);

private:
  mlir::Type storage();
  qt::InitAttr init(qt::InitKind kind, double a = 0, double b = 0);
  dsl::Tensor declare(const llvm::Twine &name, dsl::Shape shape, mlir::Type type, qt::InitAttr init,
                      llvm::ArrayRef<llvm::StringRef> tied = {});

  dsl::Graph &graph_;
  const Config &config_;
};

} // namespace qcc::qwen

#endif // MODELS_QWEN_WEIGHTMAP_H
