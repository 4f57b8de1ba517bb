// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cost/Cost.h"

#include <algorithm>

namespace qrt {

static double bytesOf(const TensorShape &shape) {
  return static_cast<double>(shape.elements()) * static_cast<double>(byteSize(shape.dtype));
}

/// Bytes of a table [rows, width] of which only the rows of `picks` indices are touched.
static double pickedBytes(const TensorShape &table, const TensorShape &indices) {
  double rows = static_cast<double>(std::max<int64_t>(table.dims[0], 1));
  return bytesOf(table) * std::min(1.0, static_cast<double>(indices.elements()) / rows);
}

Cost launchCost(Kernel kernel, ArgShapes args, std::span<const ArgEffect> effects, std::span<const ParamValue> params,
                const BucketShape &bucket, const Expression *expression) {
  // By the catalog: (docs, ids, weight, out) and (docs, ids, order, dout, dweight).
  constexpr size_t kIds = 1, kEmbeddingWeight = 2, kEmbeddingGradient = 4;
  Cost cost{kernelFlops(kernel, args, params, bucket, expression), 0};
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i])
      continue;
    bool updates = effects[i] == ArgEffect::InOut;
    // Rows that no token names: not read by the embedding, not added to by its gradient.
    bool picks = (kernel == Kernel::Embedding && i == kEmbeddingWeight) ||
                 (kernel == Kernel::EmbeddingGrad && i == kEmbeddingGradient && updates);
    cost.bytes += (picks ? pickedBytes(*args[i], *args[kIds]) : bytesOf(*args[i])) * (updates ? 2 : 1);
  }
  return cost;
}

Cost productCost(const TensorShape &a, const TensorShape &b, const TensorShape &c, bool transposeA, bool accumulate) {
  return {2.0 * static_cast<double>(c.elements()) * static_cast<double>(a.dims[transposeA ? 0 : 1]),
          bytesOf(a) + bytesOf(b) + bytesOf(c) * (accumulate ? 2 : 1)};
}

Cost copyCost(const TensorShape &tensor) { return {0, 2 * bytesOf(tensor)}; }

Cost fillCost(const TensorShape &tensor) { return {0, bytesOf(tensor)}; }

} // namespace qrt
