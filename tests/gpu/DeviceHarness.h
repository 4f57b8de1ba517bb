// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of kernels on a GPU, for tests that compare them with the CPU's.
#ifndef TESTS_GPU_DEVICEHARNESS_H
#define TESTS_GPU_DEVICEHARNESS_H

#include "runtime/backends/cuda/Gpu.h"
#include "tests/unit/cpu/KernelHarness.h"

namespace qrt::cuda::test {

using cpu::test::HostTensor;
using cpu::test::KernelCall;

/// The GPU of all tests; device functions are compiled when they are needed, through the cache. Ends the program with
/// the reason where there is none.
Gpu &gpu();
/// Its device functions.
WorkContext deviceWorks();

/// With QCC_COMPILE_ONLY set nothing runs: calls are planned and their device functions compiled into the cache, which
/// needs no GPU; results are zeros, and what tests say of them is not heard.
bool compileOnly();

/// Runs the call on the GPU from what its tensors hold now, and returns the tensors as the GPU leaves them (the call's
/// own stay as they are), in the order of the arguments; absent ones are empty. Outputs and workspace are poison
/// beforehand. Expects that inputs and the gaps between rows are untouched, and that a second run gives the same bits.
std::vector<HostTensor> runOnDevice(const KernelCall &call);

/// As runOnDevice(call), of the works that `plan` makes for these tensors; `results` lists those that are written.
std::vector<HostTensor> runOnDevice(const std::vector<HostTensor *> &tensors, const std::vector<size_t> &results,
                                    const std::function<Status(std::span<const Tensor>, KernelPlan &)> &plan);
/// Runs the call likewise, once, and returns what it leaves in its workspace.
std::vector<std::byte> workspaceOnDevice(const KernelCall &call);

/// The seed of the random shapes and lengths: $QCC_SEED, else new each time; printed.
uint32_t testSeed();

/// norm(got - expected) / norm(expected) with the place of the largest difference in the message of a failure. Elements
/// that are not finite fail and say where the first is.
void expectNear(const HostTensor &got, const std::vector<double> &expected, double bound, const std::string &what);

} // namespace qrt::cuda::test

#endif // TESTS_GPU_DEVICEHARNESS_H
