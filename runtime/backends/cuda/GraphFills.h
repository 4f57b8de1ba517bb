// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_GRAPHFILLS_H
#define RUNTIME_BACKENDS_CUDA_GRAPHFILLS_H

#include "runtime/backends/cuda/PreparedWorks.h"

namespace qrt::cuda {

/// Makes launches of the graph's small fills with zeros, which cuBLASLt captures before many of its kernels (counters
/// in its workspace) and a device does for 5 us between two kernels: it changes over to a fill and back. A launch that
/// does the same takes one or two. Fills of more than 1 MiB, or of other bytes, stay what they are.
Status launchSmallFills(const WorkContext &context, CUgraph graph);

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_GRAPHFILLS_H
