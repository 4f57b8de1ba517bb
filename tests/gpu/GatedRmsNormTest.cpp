// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gated_rms_norm and its gradient against the CPU's in the same storage.
#include "tests/gpu/DeviceHarness.h"
#include "tests/unit/cpu/NormCase.h"

using namespace qrt;
using namespace qrt::cpu::test;
using namespace qrt::cuda::test;

namespace {

constexpr double kEps = 1e-6;

class GatedRmsNormOnGpu : public NormTest {
protected:
  GatedRmsNormOnGpu() : NormTest(testSeed()) {}
  /// Sums in another order, and approximate sigmoids; sums of the rows of the weight's gradient.
  static constexpr double kBound = 5e-6, kWeightBound = 1e-5;

  /// Tokens, heads, width.
  std::vector<std::array<int64_t, 3>> shapes() {
    auto tokens = [&] { return static_cast<int64_t>(1 + random() % 40); };
    // Backward, the last two take five steps, the fifth not a whole one.
    return {{tokens(), 48, 128}, {tokens(), 16, 128}, {tokens(), 32, 128}, {1, 1, 128},        {1000, 3, 16},
            {256, 2, 32},        {tokens(), 5, 64},   {9, 3, 37},          {tokens(), 2, 512}, {4099, 1, 8},
            {tokens(), 7, 128},  {64, 6, 100},        {1201, 16, 128},     {2501, 7, 128}};
  }
  static int64_t gap(int64_t width, int64_t vectors) { return width % 8 == 0 ? 8 * vectors : vectors; }
  static std::string name(std::string what, const std::array<int64_t, 3> &shape) {
    return what + " of " + std::to_string(shape[0]) + "x" + std::to_string(shape[1]) + "x" + std::to_string(shape[2]);
  }
};

} // namespace

TEST_P(GatedRmsNormOnGpu, Forward) {
  for (const auto &shape : shapes()) {
    auto [tokens, heads, width] = shape;
    std::vector<int64_t> dims = {tokens, heads, width};
    HostTensor x = make(md, dims, 0), z = make(md, dims, gap(width, 1), 2), w = make(wt, {width}, 0, 0.3, 1);
    HostTensor y(md, dims, gap(width, 2)), rstd(DType::F32, {tokens, heads}, 3);
    KernelCall call{Kernel::GatedRmsNorm, {&x, &z, &w, &y, &rstd}, {floatParam(kEps)}};
    std::vector<HostTensor> got = runOnDevice(call);
    call.run();
    expectNear(got[3], y.values(), sameStorageBound(y, kBound), name("y", shape));
    expectNear(got[4], rstd.values(), 1e-6, name("rstd", shape));
    KernelCall bare{Kernel::GatedRmsNorm, {&x, &z, &w, &y, nullptr}, {floatParam(kEps)}};
    expectNear(runOnDevice(bare)[3], y.values(), sameStorageBound(y, kBound), name("y alone", shape));
  }
}

TEST_P(GatedRmsNormOnGpu, Gradient) {
  for (const auto &shape : shapes()) {
    auto [tokens, heads, width] = shape;
    std::vector<int64_t> dims = {tokens, heads, width};
    HostTensor x = make(md, dims, gap(width, 1)), z = make(md, dims, gap(width, 2), 2), dy = make(md, dims, 0);
    HostTensor w = make(wt, {width}, 0, 0.3, 1), y(md, dims), rstd(DType::F32, {tokens, heads}, 1);
    KernelCall{Kernel::GatedRmsNorm, {&x, &z, &w, &y, &rstd}, {floatParam(kEps)}}.run();
    for (bool saved : {false, true}) {
      HostTensor dx(md, dims, gap(width, 3)), dz(md, dims, gap(width, 1)), dw = make(wt, {width}, 0, 5);
      KernelCall call{Kernel::GatedRmsNormGrad,
                      {&x, &z, &w, saved ? &rstd : nullptr, &dy, &dx, &dz, &dw},
                      {floatParam(kEps)},
                      saved ? std::vector{7} : std::vector<int>{}};
      std::vector<HostTensor> got = runOnDevice(call);
      call.run();
      expectNear(got[5], dx.values(), sameStorageBound(dx, kBound), name("dx", shape));
      expectNear(got[6], dz.values(), sameStorageBound(dz, kBound), name("dz", shape));
      expectNear(got[7], dw.values(), sameStorageBound(dw, kWeightBound), name("dweight", shape));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Storage, GatedRmsNormOnGpu, allNormTypes(), nameOfTypes);
