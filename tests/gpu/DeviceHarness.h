// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of kernels on a GPU, for tests that compare them with the CPU's.
#ifndef TESTS_GPU_DEVICEHARNESS_H
#define TESTS_GPU_DEVICEHARNESS_H

#include "runtime/backends/cuda/Gpu.h"
#include "runtime/backends/cuda/PreparedLaunch.h"
#include "tests/unit/cpu/KernelHarness.h"

#include <optional>

namespace qrt::cuda::test {

using cpu::test::HostTensor;
using cpu::test::KernelCall;

/// Ends the program with the reason where the status is an error, whatever is still to be tested.
void require(const Status &status);

/// The GPU of all tests; device functions are compiled when they are needed, through the cache. Ends the program with
/// the reason where there is none.
Gpu &gpu();
/// Its device functions.
WorkContext deviceWorks();

/// With QCC_COMPILE_ONLY set nothing runs: calls are planned and their device functions compiled into the cache, which
/// needs no GPU; results are zeros, and what tests say of them is not heard. A plan or a function that fails ends the
/// program (require()).
bool compileOnly();

/// Runs the call on the GPU from what its tensors hold now, and returns the tensors as the GPU leaves them (the call's
/// own stay as they are), in the order of the arguments; absent ones are empty. Outputs and workspace are poison
/// beforehand. Expects that inputs and the gaps between rows are untouched, and that a second run gives the same bits.
std::vector<HostTensor> runOnDevice(const KernelCall &call);

/// As runOnDevice(call), of the works that `plan` makes for these tensors; `results` lists those that are written.
std::vector<HostTensor> runOnDevice(const std::vector<HostTensor *> &tensors, const std::vector<size_t> &results,
                                    const std::function<Status(std::span<const Tensor>, KernelPlan &)> &plan);
/// As runOnDevice(call), of several calls with the works that `plan` makes for them together; a tensor may be an
/// argument of many. The arguments as the GPU leaves them, by call.
std::vector<std::vector<HostTensor>>
runOnDevice(const std::vector<KernelCall> &calls,
            const std::function<Status(std::span<const Call>, KernelPlan &)> &plan);
/// Runs the call likewise, once, and returns what it leaves in its workspace.
std::vector<std::byte> workspaceOnDevice(const KernelCall &call);

/// Device functions that a test brings along, beside those of device/.
class TestFunctions {
public:
  /// `code`: CUDA C++ that may include the files of device/; it must outlive the object.
  explicit TestFunctions(std::string_view code);
  /// Launches one block of a function (a C++ expression, like DeviceLaunch::function) and waits for its end. With
  /// compileOnly() it is compiled only. A function that does not compile, or that the assembler warns of, ends the
  /// program (require()).
  template <typename Params>
  Status launch(const std::string &function, const Params &params, uint32_t threads, uint32_t sharedBytes = 0,
                std::vector<TensorMapSpec> maps = {}) {
    KernelPlan plan(0);
    plan.launch("", function, {1}, {threads}, sharedBytes, params).tensorMaps = std::move(maps);
    return launch(std::get<DeviceLaunch>(plan.works()[0]));
  }

private:
  Status launch(const DeviceLaunch &launch);

  FindDeviceCode find_;
  std::optional<KernelModules> modules_;
};

/// The seed of the random shapes and lengths: $QCC_SEED, else new each time; printed.
uint32_t testSeed();

/// Expects norm(got - expected) <= bound norm(expected); and of each row (the last dimension; of a vector each element)
/// the same with 10 times the bound, relative to its norm or the mean norm of rows, whichever is larger, so that a tile
/// or a row that is wrong does not hide among many that are right. The message of a failure has the place. Elements
/// that are not finite fail and say where the first is.
void expectNear(const HostTensor &got, const std::vector<double> &expected, double bound, const std::string &what);

/// The bound of a result that the CPU rounds to the same storage, from numbers in f32 whose last bits differ (relative
/// `f32`, at most 1e-5). In bf16 a last bit now and then rounds the other way: in one element of a hundred, which is
/// 5e-4 (a unit is 2^-8 to 2^-7 of an element, and an f32 number is within 1e-5 of the middle between two in one case
/// of 400); and in one element, the largest, whatever the size of the tensor.
double sameStorageBound(const HostTensor &expected, double f32);

} // namespace qrt::cuda::test

#endif // TESTS_GPU_DEVICEHARNESS_H
