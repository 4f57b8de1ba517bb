// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/kernels/Kernel.h"

#include "runtime/kernels/Expression.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace qrt {
namespace {

// Each list starts with a sentinel so that a kernel without arguments or parameters has a valid array.
#define QRT_KERNEL(Name, text) constexpr ArgInfo kArgs##Name[] = {{"", ArgEffect::Read, ""}
#define QRT_ARG(name, Effect, type)                                                                                    \
  , { #name, ArgEffect::Effect, type }
#define QRT_KERNEL_END()                                                                                               \
  }                                                                                                                    \
  ;
#include "runtime/kernels/catalog.def"

#define QRT_KERNEL(Name, text) constexpr ParamInfo kParams##Name[] = {{"", ParamType::Int}
#define QRT_PARAM(name, Type)                                                                                          \
  , { #name, ParamType::Type }
#define QRT_KERNEL_END()                                                                                               \
  }                                                                                                                    \
  ;
#include "runtime/kernels/catalog.def"

#define QRT_KERNEL(Name, text) constexpr bool kHasParamList##Name = false
#define QRT_PARAM_LIST(name) || true
#define QRT_KERNEL_END() ;
#include "runtime/kernels/catalog.def"

const KernelInfo kInfos[kNumKernels] = {
#define QRT_KERNEL(Name, text)                                                                                         \
  {#text, std::span(kArgs##Name).subspan(1), std::span(kParams##Name).subspan(1), kHasParamList##Name},
#include "runtime/kernels/catalog.def"
};

/// What a formula of the catalog may use.
struct FlopsContext {
  const KernelInfo &info;
  ArgShapes args;
  std::span<const ParamValue> params;
  const BucketShape &bucket;
  const Expression *expression;

  const TensorShape *find(std::string_view name) const {
    for (size_t i = 0; i < info.args.size(); ++i)
      if (info.args[i].name == name)
        return i < args.size() && args[i] ? &*args[i] : nullptr;
    assert(false && "the catalog's formula names an argument that the kernel does not have");
    return nullptr;
  }
  double elements(std::string_view name) const {
    const TensorShape *shape = find(name);
    return shape ? static_cast<double>(shape->elements()) : 0;
  }
  double dim(std::string_view name, int axis) const {
    const TensorShape *shape = find(name);
    return shape && axis < shape->rank ? static_cast<double>(shape->dims[axis]) : 0;
  }
  double operations() const { return expression ? expressionFlops(*expression) : 0; }
};

} // namespace

const KernelInfo &kernelInfo(Kernel kernel) { return kInfos[static_cast<int>(kernel)]; }

std::optional<Kernel> kernelByName(std::string_view name) {
  for (int i = 0; i < kNumKernels; ++i)
    if (kInfos[i].name == name)
      return static_cast<Kernel>(i);
  return std::nullopt;
}

TensorShape denseShape(DType dtype, std::span<const int64_t> dims) {
  assert(dims.size() <= 4 && "a tensor has at most four dimensions");
  TensorShape shape;
  shape.dtype = dtype;
  shape.rank = static_cast<int>(dims.size());
  int64_t stride = 1;
  for (int axis = shape.rank - 1; axis >= 0; stride *= shape.dims[axis--]) {
    shape.dims[axis] = dims[static_cast<size_t>(axis)];
    shape.strides[axis] = stride;
  }
  return shape;
}

bool isDense(const TensorShape &shape) {
  int64_t stride = 1;
  for (int axis = shape.rank - 1; axis >= 0; stride *= shape.dims[axis--])
    if (shape.dims[axis] != 1 && shape.strides[axis] != stride)
      return false;
  return true;
}

double kernelFlops(Kernel kernel, ArgShapes args, std::span<const ParamValue> params, const BucketShape &bucket,
                   const Expression *expression) {
  [[maybe_unused]] FlopsContext context{kernelInfo(kernel), args, params, bucket, expression};
#define elements(name) context.elements(#name)
#define dim(name, axis) context.dim(#name, axis)
#define operations() context.operations()
  switch (kernel) {
#define QRT_KERNEL(Name, text) case Kernel::Name:
#define QRT_FLOPS(expression) return static_cast<double>(expression);
#include "runtime/kernels/catalog.def"
  }
#undef elements
#undef dim
#undef operations
  return 0;
}

int64_t cpuWorkspaceBytes(Kernel kernel, ArgShapes args) {
  if (kernel != Kernel::LinearCrossEntropy && kernel != Kernel::LinearCrossEntropyGrad)
    return 0;
  // A tile of logits: enough rows to keep the matrix products busy, few enough that 248,320 columns stay a quarter of a
  // gigabyte.
  constexpr int64_t kTileRows = 256;
  return std::min(kTileRows, args[0]->dims[0]) * args[1]->dims[0] * byteSize(DType::F32);
}

} // namespace qrt
