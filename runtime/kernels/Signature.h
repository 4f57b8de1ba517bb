// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a call is one that a kernel must accept.
#ifndef RUNTIME_KERNELS_SIGNATURE_H
#define RUNTIME_KERNELS_SIGNATURE_H

#include "runtime/base/Status.h"
#include "runtime/kernels/Kernel.h"

namespace qrt {

/// Checks a call against the catalog: the number of arguments, their presence, effects, element types and extents, and
/// the parameters; of a call of `pointwise` its expression too, which no other call has. Dimensions are at least 1, the
/// last stride is 1 (as a Program guarantees of its slices). `effects` has an element for each argument: Read, Write or
/// InOut. After success a kernel may trust every extent, however the call came about. InvalidData naming the argument,
/// what was expected and what came.
Status checkCall(Kernel kernel, ArgShapes args, std::span<const ArgEffect> effects, std::span<const ParamValue> params,
                 const BucketShape &bucket, const Expression *expression = nullptr);

/// What the elements of an argument of this type are followed to.
IndexKind indexKind(const ArgInfo &arg, DType dtype);

/// "bf16[128, 64]".
std::string printShape(const TensorShape &shape);

} // namespace qrt

#endif // RUNTIME_KERNELS_SIGNATURE_H
