// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types shared by device functions and the plans that fill their parameters. Device files include one another and
// nothing else; this one and the parameter structs are plain C++ that the host compiles too.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_TYPES_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_TYPES_H

namespace qrt::device {

/// Addresses are 64-bit numbers on the host and are cast where they are used: `as<T>(p.x)`.
using Ptr = unsigned long long;
using i64 = long long;

/// A tensor map of the copy engine, opaque.
struct alignas(128) TensorMap {
  unsigned long long words[16];
};

/// The segment table (runtime/base/SegmentTable.h): where its parts begin, in i32 elements.
struct Segments {
  Ptr table;
  int tokens, documents, maxChunks, maxTiles, maxTrained;
  int documentOffsets, tokenDocument, chunkStart, tileStart, trainedRows;
};

/// A tensor [tokens, heads, width], elements next to each other in a head; strides of tokens and heads in elements.
/// Absent: no data.
struct HeadTensor {
  Ptr data;
  i64 row, head;
};

/// Dynamic shared memory that a block may have, in bytes.
constexpr int kMaxSharedBytes = 232448;

/// What the quotient by a number known on the host takes on the device (plan/Plans.h makes it).
struct Divisor {
  unsigned value, multiplier, shift;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_TYPES_H
