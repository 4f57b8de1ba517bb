// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef COMPILER_TARGET_KERNELCALL_H
#define COMPILER_TARGET_KERNELCALL_H

#include "runtime/kernels/Expression.h"
#include "runtime/kernels/Kernel.h"

#include "llvm/ADT/SmallVector.h"

namespace qcc {

/// A call of a kernel as far as its shapes tell: what a target needs to know to say whether, and how, it does it.
struct KernelCall {
  qrt::Kernel kernel;
  /// In catalog order; absent optional ones have no shape.
  llvm::SmallVector<std::optional<qrt::TensorShape>> shapes;
  /// Bytes from an aligned address to the first element of each.
  llvm::SmallVector<int64_t> offsets;
  /// Read, Write or InOut.
  llvm::SmallVector<qrt::ArgEffect> effects;
  llvm::SmallVector<qrt::ParamValue> params;
  qrt::BucketShape bucket;
  /// Of a call of `pointwise`.
  std::optional<qrt::Expression> expression;

  /// Null where it has none.
  const qrt::Expression *expressionOrNull() const { return expression ? &*expression : nullptr; }

  /// The next argument; `elements`: from an aligned address to its first.
  void addArgument(qrt::ArgEffect effect, const qrt::TensorShape &shape, int64_t elements) {
    shapes.emplace_back(shape);
    offsets.push_back(elements * qrt::byteSize(shape.dtype));
    effects.push_back(effect);
  }
  /// The next argument, an optional one, is not given.
  void addAbsent(qrt::ArgEffect effect) {
    shapes.emplace_back();
    offsets.push_back(0);
    effects.push_back(effect);
  }
};

/// What a target says about a call.
struct CallNeeds {
  /// Memory besides the arguments.
  int64_t workspaceBytes = 0;
  /// Arguments that are given, but that the target's kernel does not read, by their place in the catalog.
  llvm::SmallVector<int> unread;
};

} // namespace qcc

#endif // COMPILER_TARGET_KERNELCALL_H
