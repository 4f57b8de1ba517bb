// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_ROWCOPIES_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_ROWCOPIES_H

#include "Types.h"

namespace qrt::device {

constexpr int kRowCopyThreads = 128;
/// The label of a row that is not trained (runtime/base/IgnoredLabel.h).
constexpr int kIgnoredLabel = -100;
/// Rows of the result that a block of scatterRows takes.
constexpr int kScatterRows = 8;

/// Moves rows of `units` units; strides in units. `rows`: rows of the result; a block takes one, of scatterRows
/// kScatterRows, of gatherLabels one a thread. `ids` for the embedding alone.
struct RowCopyParams {
  Segments docs;
  Ptr ids, from, to;
  i64 fromStride, toStride;
  int rows, units;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_ROWCOPIES_H
