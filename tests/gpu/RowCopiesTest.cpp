// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that move rows: embedding and its gradient, gather and scatter of trained rows; copies of strided tensors.
// Against the CPU's in the same storage: what is only moved is the same.
#include "runtime/backends/cuda/plan/Plans.h"
#include "tests/gpu/DeviceHarness.h"

#include <algorithm>
#include <numeric>

using namespace qrt;
using namespace qrt::cpu::test;
using namespace qrt::cuda::test;

namespace {

class RowCopiesOnGpu : public testing::TestWithParam<DType> {
protected:
  DType md = GetParam();
  std::mt19937 random{testSeed()};
  /// Real, tiny, and not made of vectors.
  const std::vector<int64_t> widths = {5120, 1024, 2560, 40, 1, 37, 333};

  HostTensor make(std::vector<int64_t> dims, int64_t gap) {
    return HostTensor(md, std::move(dims), gap).randomize(random);
  }
  static int64_t gap(int64_t width, int64_t vectors) { return width % 8 == 0 ? 8 * vectors : vectors; }
};

/// Packed rows of these ids, the rest of the bucket a tail; `order` as the host makes it.
struct Ids {
  BucketShape bucket;
  HostTensor docs, ids, order;

  Ids(int64_t tokens, const std::vector<int64_t> &values) {
    int64_t used = static_cast<int64_t>(values.size());
    bucket = {tokens, 3, std::max<int64_t>(used, 1), 1};
    docs = segmentTable(bucket, {used / 2, 0, used - used / 2});
    ids = order = HostTensor(DType::I32, {tokens});
    std::vector<int64_t> sorted(values.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::stable_sort(sorted.begin(), sorted.end(), [&](int64_t a, int64_t b) {
      return values[static_cast<size_t>(a)] < values[static_cast<size_t>(b)];
    });
    for (int64_t t = 0; t < used; ++t) {
      ids.set(t, static_cast<double>(values[static_cast<size_t>(t)]));
      order.set(t, static_cast<double>(sorted[static_cast<size_t>(t)]));
    }
  }
};

} // namespace

TEST_P(RowCopiesOnGpu, Embedding) {
  for (int64_t width : widths) {
    std::vector<int64_t> values(91);
    for (int64_t &value : values)
      value = static_cast<int64_t>(random() % 50);
    Ids ids(100, values);
    HostTensor weight = make({50, width}, gap(width, 1)), out(md, {100, width}, gap(width, 2));
    KernelCall call{Kernel::Embedding, {&ids.docs, &ids.ids, &weight, &out}, {}, {}, ids.bucket};
    std::vector<HostTensor> got = runOnDevice(call);
    call.run();
    expectNear(got[3], out.values(), 0, fmt::format("embedding, width {}", width));
  }
}

TEST_P(RowCopiesOnGpu, EmbeddingGradient) {
  constexpr int64_t kVocabulary = 300;
  std::vector<std::pair<std::string, std::function<int64_t(int64_t)>>> patterns = {
      {"random ids", [&](int64_t) { return static_cast<int64_t>(random() % kVocabulary); }},
      {"one id", [](int64_t) { return kVocabulary - 1; }},
      {"a frequent id", [&](int64_t t) { return t % 3 ? static_cast<int64_t>(random() % kVocabulary) : 7; }},
      {"runs of 32", [](int64_t t) { return t / 32 % kVocabulary; }},
      {"runs of 33", [](int64_t t) { return t / 33 % kVocabulary; }},
      {"runs of 64", [](int64_t t) { return t / 64 % kVocabulary; }},
      {"runs of 31 and 1", [](int64_t t) { return t / 32 * 2 % kVocabulary + (t % 32 == 31); }}};
  for (auto [tokens, used, width] : std::vector<std::array<int64_t, 3>>{
           {100, 91, 5120}, {1000, 1000, 64}, {4099, 4099, 24}, {128, 0, 64}, {256, 1, 37}, {700, 640, 1}}) {
    for (const auto &[what, pattern] : patterns) {
      std::vector<int64_t> values(static_cast<size_t>(used));
      for (int64_t t = 0; t < used; ++t)
        values[static_cast<size_t>(t)] = pattern(t);
      Ids ids(tokens, values);
      HostTensor dout = make({tokens, width}, gap(width, 1));
      for (int64_t i = used * width; i < tokens * width; ++i)
        dout.set(i, NAN); // not read
      for (DType storage : {md, DType::F32}) {
        for (bool accumulate : {false, true}) {
          // Without gaps: the zeros are one fill; with them rows of their own.
          HostTensor dweight(storage, {kVocabulary, width}, accumulate || used % 2 ? 0 : gap(width, 1));
          if (accumulate)
            dweight.randomize(random);
          KernelCall call{Kernel::EmbeddingGrad,
                          {&ids.docs, &ids.ids, &ids.order, &dout, &dweight},
                          {},
                          accumulate ? std::vector{4} : std::vector<int>{},
                          ids.bucket};
          std::vector<HostTensor> got = runOnDevice(call);
          call.run();
          // Sums of the rows of an id, in f32 in another order.
          expectNear(got[4], dweight.values(), sameStorageBound(dweight, 5e-6),
                     fmt::format("dweight of {} tokens of {}, width {}, {}{}", used, tokens, width, what,
                                 accumulate ? ", accumulated" : ""));
        }
      }
    }
  }
}

TEST_P(RowCopiesOnGpu, GatherAndScatter) {
  for (int64_t width : widths) {
    for (int64_t percent : {0, 3, 50, 100}) {
      BucketShape bucket{100, 6, 60, 97};
      std::vector<int64_t> trained;
      for (int64_t t = 0; t < 91; ++t)
        if (static_cast<int64_t>(random() % 100) < percent)
          trained.push_back(t);
      HostTensor docs = segmentTable(bucket, {60, 1, 0, 30}, trained);
      HostTensor x = make({100, width}, gap(width, 1)), out(md, {97, width}, gap(width, 2));
      KernelCall gather{Kernel::GatherRows, {&docs, &x, &out}, {}, {}, bucket};
      std::vector<HostTensor> got = runOnDevice(gather);
      gather.run();
      expectNear(got[2], out.values(), 0, fmt::format("gather, width {}, {} rows", width, trained.size()));
      HostTensor dout = make({97, width}, gap(width, 2)), dx(md, {100, width}, gap(width, 1));
      for (int64_t i = static_cast<int64_t>(trained.size()) * width; i < dout.elements(); ++i)
        dout.set(i, NAN); // not read
      KernelCall scatter{Kernel::ScatterRows, {&docs, &dout, &dx}, {}, {}, bucket};
      got = runOnDevice(scatter);
      scatter.run();
      expectNear(got[2], dx.values(), 0, fmt::format("scatter, width {}, {} rows", width, trained.size()));
    }
  }
}

TEST_P(RowCopiesOnGpu, ScatterOfManyRows) {
  BucketShape bucket{4099, 1, 4099, 4000};
  std::vector<int64_t> trained;
  for (int64_t t = 0; t < 4099; ++t)
    if (random() % 100 < (t < 2000 ? 1u : 70u))
      trained.push_back(t);
  HostTensor docs = segmentTable(bucket, {4099}, trained);
  HostTensor dout = make({4000, 16}, 0), dx(md, {4099, 16});
  KernelCall scatter{Kernel::ScatterRows, {&docs, &dout, &dx}, {}, {}, bucket};
  std::vector<HostTensor> got = runOnDevice(scatter);
  scatter.run();
  expectNear(got[2], dx.values(), 0, "scatter of many rows");
}

TEST_P(RowCopiesOnGpu, GatherLabels) {
  BucketShape bucket{1000, 1, 1000, 700};
  std::vector<int64_t> trained;
  for (int64_t t = 0; t < 1000; t += 2)
    trained.push_back(t);
  HostTensor docs = segmentTable(bucket, {1000}, trained), labels(DType::I32, {1000}), out(DType::I32, {700});
  for (int64_t t = 0; t < 1000; ++t)
    labels.set(t, static_cast<double>(t * 7));
  KernelCall call{Kernel::GatherRows, {&docs, &labels, &out}, {}, {}, bucket};
  std::vector<HostTensor> got = runOnDevice(call);
  call.run();
  expectNear(got[2], out.values(), 0, "labels");
}

// Every rank, with gaps after rows of either side or none, units of every size.
TEST_P(RowCopiesOnGpu, CopiesAndZeros) {
  for (const std::vector<int64_t> &dims : std::vector<std::vector<int64_t>>{
           {}, {1}, {7}, {1000}, {3, 5120}, {70, 24}, {5, 3, 8}, {33, 1, 16}, {2, 3, 4, 10}, {4, 1, 5, 64}}) {
    for (int64_t sourceGap : {0, 1, 8}) {
      for (int64_t targetGap : {0, 3, 16}) {
        HostTensor source = make(dims, sourceGap), target(md, dims, targetGap);
        std::vector<HostTensor> got = runOnDevice({&source, &target}, {1}, [](auto tensors, cuda::KernelPlan &plan) {
          return cuda::planCopy(tensors[0], tensors[1], plan);
        });
        expectNear(got[1], source.values(), 0,
                   fmt::format("copy of rank {}, gaps {} and {}", dims.size(), sourceGap, targetGap));
      }
      HostTensor target(md, dims, sourceGap);
      std::vector<HostTensor> got = runOnDevice(
          {&target}, {0}, [](auto tensors, cuda::KernelPlan &plan) { return cuda::planZero(tensors[0], plan); });
      expectNear(got[0], std::vector<double>(static_cast<size_t>(target.elements()), 0.0), 0,
                 fmt::format("zeros of rank {}, gap {}", dims.size(), sourceGap));
    }
  }
}

TEST_P(RowCopiesOnGpu, Add) {
  for (const std::vector<int64_t> &dims :
       std::vector<std::vector<int64_t>>{{7}, {70, 24}, {33, 5120}, {5, 3, 8}, {9, 37}}) {
    for (int64_t sumGap : {0, 1, 8}) {
      HostTensor sum = make(dims, sumGap), term = make(dims, sumGap ? 0 : 16);
      KernelCall call{Kernel::Add, {&sum, &term}};
      std::vector<HostTensor> got = runOnDevice(call);
      call.run();
      expectNear(got[0], sum.values(), 0, fmt::format("sum of rank {}, gap {}", dims.size(), sumGap));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Storage, RowCopiesOnGpu, testing::Values(DType::F32, DType::BF16),
                         [](auto &info) { return std::string(dtypeName(info.param)); });
