// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls that programs make of a kernel, made up from the catalog's own types: nobody has to list them, and a new
// kernel or argument is in as soon as the catalog has it.
#ifndef TESTS_UNIT_CUDA_CATALOGCALLS_H
#define TESTS_UNIT_CUDA_CATALOGCALLS_H

#include "runtime/backends/cuda/plan/KernelPlan.h"

#include <functional>

namespace qrt::cuda::test {

/// Extents of a model by the catalog's letters, and the number of rotary dimensions.
struct ModelWidths {
  std::string_view name;
  /// Of a published size (docs/model.md): what its bf16 calls launch is hot.
  bool published;
  /// Rows have whole vectors of 16 bytes.
  bool vectors;
  int64_t h, I, V, H, G, D, rotary, K, W, dk, dv, taps;
};

/// The published sizes, attention of other widths in a published size, and small models: those of the golden values,
/// and one whose rows are no whole vectors.
std::span<const ModelWidths> modelWidths();

/// The buckets that a model's calls are made for: few and many documents, rows of which all or some are trained.
std::span<const BucketShape> callBuckets();

/// A call of a kernel on addresses that mean nothing.
struct CatalogCall {
  Kernel kernel;
  const ModelWidths *model;
  /// The type of weights and activations.
  DType md;
  BucketShape bucket;
  /// Whether rows of tokens lie in wider ones, as a pack's columns do.
  bool columns;
  std::vector<Tensor> args;
  std::vector<ArgEffect> effects;
  std::vector<ParamValue> params;
  /// Of a call of `pointwise`: one that has every operation.
  std::optional<Expression> expression = std::nullopt;

  const Expression *expressionOrNull() const { return expression ? &*expression : nullptr; }
  /// "adamw(f32[4], -, ...) of 27B in bf16, bucket 8192x12x1032x8192".
  std::string print() const;
};

/// Every call of `kernel` for the model: f32 and bf16, each bucket, each combination of element types, of optional
/// arguments that are there, and of results that are added to, as far as checkCall takes it. Ends the program where the
/// catalog has a letter or a parameter that is not known here.
void forEachCall(Kernel kernel, const ModelWidths &model, const std::function<void(const CatalogCall &)> &use);

} // namespace qrt::cuda::test

#endif // TESTS_UNIT_CUDA_CATALOGCALLS_H
