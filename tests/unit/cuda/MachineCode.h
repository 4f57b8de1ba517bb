// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TESTS_UNIT_CUDA_MACHINECODE_H
#define TESTS_UNIT_CUDA_MACHINECODE_H

#include "runtime/nvrtc/Nvrtc.h"

namespace qrt::cuda::test {

/// Reads in the cubin's machine code for compute capability 9.0 whether every thread of its function waits for the
/// grids before its own (awaitEarlierGrids in device/Common.cuh) before it does anything that another grid could notice
/// or that depends on one: up to the wait there are no branches and exits, and no accesses to memory but constants.
/// InvalidData, saying what comes first, if it does not; `image` has passed checkImage.
Status checkAwaitsEarlierGrids(const Cubin &cubin);

} // namespace qrt::cuda::test

#endif // TESTS_UNIT_CUDA_MACHINECODE_H
