// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// rms_norm, add_rms_norm and their gradients against the CPU's in the same storage.
#include "tests/gpu/DeviceHarness.h"
#include "tests/unit/cpu/NormCase.h"

using namespace qrt;
using namespace qrt::cpu::test;
using namespace qrt::cuda::test;

namespace {

constexpr double kEps = 1e-6;

class RmsNormOnGpu : public NormTest {
protected:
  RmsNormOnGpu() : NormTest(testSeed()) {}
  /// Sums of a row, and of the rows of a weight's gradient, in another order.
  static constexpr double kBound = 3e-6, kWeightBound = 1e-5;

  /// Rows and columns: widths of the models, tiny ones, ones that are not made of vectors; a random number of rows.
  std::vector<std::array<int64_t, 2>> shapes() {
    auto rows = [&] { return static_cast<int64_t>(1 + random() % 60); };
    if (md != wt) // what differs is the weight alone
      return {{rows(), 5120}, {rows(), 33}};
    return {{rows(), 1024}, {rows(), 2048}, {rows(), 2560}, {rows(), 4096}, {rows(), 5120}, {1, 1},      {rows(), 5},
            {200, 33},      {4099, 64},     {rows(), 1000}, {rows(), 100},  {64, 8},        {3001, 128}, {rows(), 328}};
  }
  /// Elements between rows: of whole vectors where the rows are.
  static int64_t gap(int64_t cols, int64_t vectors) { return cols % 8 == 0 ? 8 * vectors : vectors; }
  static std::string name(std::string what, int64_t rows, int64_t cols) {
    return what + " of " + std::to_string(rows) + "x" + std::to_string(cols);
  }
};

} // namespace

TEST_P(RmsNormOnGpu, Forward) {
  for (auto [rows, cols] : shapes()) {
    HostTensor x = make(md, {rows, cols}, gap(cols, 2)), w = make(wt, {cols}, 0, 0.3);
    HostTensor y(md, {rows, cols}, gap(cols, 1)), rstd(DType::F32, {rows});
    KernelCall call{Kernel::RmsNorm, {&x, &w, &y, &rstd}, {floatParam(kEps)}};
    std::vector<HostTensor> got = runOnDevice(call);
    call.run();
    expectNear(got[2], y.values(), sameStorageBound(y, kBound), name("y", rows, cols));
    expectNear(got[3], rstd.values(), 1e-6, name("rstd", rows, cols));
    KernelCall bare{Kernel::RmsNorm, {&x, &w, &y, nullptr}, {floatParam(kEps)}};
    expectNear(runOnDevice(bare)[2], y.values(), sameStorageBound(y, kBound), name("y alone", rows, cols));
  }
}

TEST_P(RmsNormOnGpu, AddForward) {
  for (auto [rows, cols] : shapes()) {
    HostTensor x = make(md, {rows, cols}, 0), delta = make(md, {rows, cols}, gap(cols, 3)),
               w = make(wt, {cols}, 0, 0.3);
    HostTensor sum(md, {rows, cols}, gap(cols, 1)), y(md, {rows, cols}, gap(cols, 2)), rstd(DType::F32, {rows});
    KernelCall call{Kernel::AddRmsNorm, {&x, &delta, &w, &sum, &y, &rstd}, {floatParam(kEps)}};
    std::vector<HostTensor> got = runOnDevice(call);
    call.run();
    expectNear(got[3], sum.values(), 0, name("sum", rows, cols));
    expectNear(got[4], y.values(), sameStorageBound(y, kBound), name("y", rows, cols));
    expectNear(got[5], rstd.values(), 1e-6, name("rstd", rows, cols));
  }
}

TEST_P(RmsNormOnGpu, Gradient) {
  bool saved = false, accumulate = false;
  for (auto [rows, cols] : shapes()) {
    if (cols == 1)
      continue; // what cancellation leaves
    HostTensor x = make(md, {rows, cols}, gap(cols, 1)), w = make(wt, {cols}, 0, 0.3);
    HostTensor dy = make(md, {rows, cols}, gap(cols, 2)), y(md, {rows, cols}), rstd(DType::F32, {rows});
    HostTensor dx(md, {rows, cols}, gap(cols, 3)), dw = make(wt, {cols}, 0, 5);
    KernelCall{Kernel::RmsNorm, {&x, &w, &y, &rstd}, {floatParam(kEps)}}.run();
    saved = !saved;
    accumulate = accumulate == saved;
    KernelCall call{Kernel::RmsNormGrad,
                    {&x, &w, saved ? &rstd : nullptr, &dy, &dx, &dw},
                    {floatParam(kEps)},
                    accumulate ? std::vector{5} : std::vector<int>{}};
    std::vector<HostTensor> got = runOnDevice(call);
    call.run();
    expectNear(got[4], dx.values(), sameStorageBound(dx, kBound), name("dx", rows, cols));
    expectNear(got[5], dw.values(), sameStorageBound(dw, kWeightBound), name("dweight", rows, cols));
  }
}

TEST_P(RmsNormOnGpu, AddGradient) {
  bool withSum = false, saved = false;
  for (auto [rows, cols] : shapes()) {
    if (cols == 1)
      continue;
    HostTensor sum = make(md, {rows, cols}, gap(cols, 1)), w = make(wt, {cols}, 0, 0.3);
    HostTensor dsum = make(md, {rows, cols}, gap(cols, 2)), dy = make(md, {rows, cols}, 0);
    HostTensor y(md, {rows, cols}), rstd(DType::F32, {rows}), dx(md, {rows, cols}, gap(cols, 1)), dw(wt, {cols});
    KernelCall{Kernel::RmsNorm, {&sum, &w, &y, &rstd}, {floatParam(kEps)}}.run();
    withSum = !withSum;
    saved = saved != withSum;
    KernelCall call{Kernel::AddRmsNormGrad,
                    {&sum, &w, saved ? &rstd : nullptr, withSum ? &dsum : nullptr, &dy, &dx, &dw},
                    {floatParam(kEps)}};
    std::vector<HostTensor> got = runOnDevice(call);
    call.run();
    expectNear(got[5], dx.values(), sameStorageBound(dx, kBound), name("dx", rows, cols));
    expectNear(got[6], dw.values(), sameStorageBound(dw, kWeightBound), name("dweight", rows, cols));
  }
}

INSTANTIATE_TEST_SUITE_P(Storage, RmsNormOnGpu, allNormTypes(), nameOfTypes);
