// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// swiglu and its gradient against the CPU's in the same storage.
#include "tests/gpu/DeviceHarness.h"

using namespace qrt;
using namespace qrt::cuda::test;

namespace {

class SwigluOnGpu : public testing::TestWithParam<DType> {
protected:
  DType md = GetParam();
  /// Sigmoids of both differ by an approximate power and an approximate reciprocal.
  static constexpr double kBound = 2e-6;
  std::mt19937 random{testSeed()};
  HostTensor make(int64_t rows, int64_t cols, int64_t gap) {
    return HostTensor(md, {rows, cols}, gap).randomize(random, 2);
  }
};

} // namespace

TEST_P(SwigluOnGpu, AgreesWithTheCpu) {
  for (auto [rows, cols] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 8}, {37, 512}, {9, 17408}, {11, 3584}, {4099, 24}, {6, 37}, {3, 1001}, {1, 1}}) {
    // Rows of whole vectors, or not.
    int64_t gap = cols % 8 ? 1 : 8;
    HostTensor gate = make(rows, cols, gap), up = make(rows, cols, 2 * gap), dy = make(rows, cols, 0);
    HostTensor y(md, {rows, cols}), dgate(md, {rows, cols}, gap), dup(md, {rows, cols}, gap);
    KernelCall forward{Kernel::Swiglu, {&gate, &up, &y}};
    std::vector<HostTensor> got = runOnDevice(forward);
    forward.run();
    expectNear(got[2], y.values(), sameStorageBound(y, kBound), "y");
    KernelCall backward{Kernel::SwigluGrad, {&gate, &up, &dy, &dgate, &dup}};
    got = runOnDevice(backward);
    backward.run();
    expectNear(got[3], dgate.values(), sameStorageBound(dgate, kBound), "dgate");
    expectNear(got[4], dup.values(), sameStorageBound(dup, kBound), "dup");
  }
}

INSTANTIATE_TEST_SUITE_P(Types, SwigluOnGpu, testing::Values(DType::F32, DType::BF16));
