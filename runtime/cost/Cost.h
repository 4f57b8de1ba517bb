// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_COST_COST_H
#define RUNTIME_COST_COST_H

#include "runtime/kernels/Kernel.h"

namespace qrt {

/// What a piece of work has to do at least: floating-point operations, and bytes of device memory read and written.
/// Every argument counts once, twice where it is updated, and rows that are picked by an index only as often as they
/// are; workspace does not count.
struct Cost {
  double flops = 0, bytes = 0;

  void add(const Cost &other) {
    flops += other.flops;
    bytes += other.bytes;
  }
};

/// Of a call of the catalog: flops by its formula, which takes every document to be as long as the bucket's longest.
/// `effects`: Read, Write or InOut of each argument.
Cost launchCost(Kernel kernel, ArgShapes args, std::span<const ArgEffect> effects, std::span<const ParamValue> params,
                const BucketShape &bucket, const Expression *expression = nullptr);

/// Of c = op(a) op(b), or c += op(a) op(b).
Cost productCost(const TensorShape &a, const TensorShape &b, const TensorShape &c, bool transposeA, bool accumulate);

/// Of a copy of a tensor, and of zeros in one.
Cost copyCost(const TensorShape &tensor);
Cost fillCost(const TensorShape &tensor);

} // namespace qrt

#endif // RUNTIME_COST_COST_H
