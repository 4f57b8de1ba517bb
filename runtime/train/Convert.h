// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights in the types that checkpoints have, to and from f32.
#ifndef RUNTIME_TRAIN_CONVERT_H
#define RUNTIME_TRAIN_CONVERT_H

#include "runtime/base/DType.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace qrt {

/// Weights pass from and to the host in pieces of so many elements.
constexpr int64_t kPieceElements = 1 << 20;

/// F32, BF16, F16 and F64.
bool isFloatType(DType dtype);

/// Elements of a float type, not necessarily aligned, as f32; exact but for F64, which is rounded to nearest. `bytes`
/// holds as many elements as `values`.
void floatsFromBytes(DType dtype, std::span<const uint8_t> bytes, std::span<float> values);

/// The inverse, rounding to nearest, ties to even.
void bytesFromFloats(DType dtype, std::span<const float> values, std::span<uint8_t> bytes);

} // namespace qrt

#endif // RUNTIME_TRAIN_CONVERT_H
