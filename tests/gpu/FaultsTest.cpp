// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device functions with a fault each, which a tool of compute-sanitizer has to report: gpu_check.py runs them under the
// tools, so that a tool that sees nothing is not taken for one that found nothing. They lie in the namespace of our
// kernels, where the tool is looked after. On its own each does no harm, and its test passes.
#include "runtime/backends/cuda/device/Types.h"
#include "tests/gpu/DeviceHarness.h"

using namespace qrt;
using namespace qrt::cuda;
using namespace qrt::cuda::test;
namespace device = qrt::device;

namespace {

constexpr char kDeviceCode[] = R"(
#include "Common.cuh"
namespace qrt::device {

struct FaultParams { Ptr from, d; };

// One element too many: the driver places allocations 256 bytes apart, so that nobody else has it.
__global__ void writePastTheEnd(const __grid_constant__ FaultParams p) { as<int>(p.d)[threadIdx.x] = 1; }

// A warp reads what the other writes, and nothing makes it wait.
__global__ void readWithoutBarrier(const __grid_constant__ FaultParams p) {
  __shared__ int shared[64];
  shared[threadIdx.x] = threadIdx.x;
  as<int>(p.d)[threadIdx.x] = shared[threadIdx.x ^ 32];
}

__global__ void readUnwritten(const __grid_constant__ FaultParams p) {
  as<int>(p.d)[threadIdx.x] = as<const int>(p.from)[threadIdx.x];
}

// Each warp has its own __syncthreads. The hardware counts the warps that arrive, so that both go on.
__global__ void meetAtTwoBarriers(const __grid_constant__ FaultParams p) {
  __shared__ int shared[64];
  shared[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 32) {
    __syncthreads();
    as<int>(p.d)[threadIdx.x] = shared[threadIdx.x + 32];
  } else {
    shared[threadIdx.x] += 1;
    __syncthreads();
    as<int>(p.d)[threadIdx.x] = shared[threadIdx.x - 32] * 3;
  }
}
}
)";

struct FaultParams {
  device::Ptr from, d;
};

/// Launches a function with `threads` threads and memory for `elements` i32. Under a tool that ends the context at a
/// fault, what follows the fault fails: that is not looked at, since the tool says nothing of a program that has
/// failed.
void launchFaulty(const std::string &function, uint32_t threads, int64_t elements) {
  static TestFunctions functions(kDeviceCode);
  DeviceMemory from, d;
  if (!compileOnly())
    for (DeviceMemory *memory : {&from, &d}) {
      StatusOr<DeviceMemory> allocated = gpu().allocate(elements * 4);
      require(allocated.status());
      *memory = *std::move(allocated);
    }
  (void)functions.launch(function, FaultParams{from.data(), d.data()}, threads);
}

} // namespace

// Named after the tool that each is for.
TEST(Faults, Memcheck) { launchFaulty("qrt::device::writePastTheEnd", 33, 32); }
TEST(Faults, Racecheck) { launchFaulty("qrt::device::readWithoutBarrier", 64, 64); }
TEST(Faults, Initcheck) { launchFaulty("qrt::device::readUnwritten", 32, 32); }
TEST(Faults, Synccheck) { launchFaulty("qrt::device::meetAtTwoBarriers", 64, 64); }
