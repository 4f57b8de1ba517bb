// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that move rows: embedding and its gradient, gather and scatter of trained rows.
#include "tests/unit/cpu/KernelHarness.h"

#include <algorithm>
#include <numeric>

using namespace qrt;
using namespace qrt::cpu::test;

namespace {

using Values = std::vector<double>;

class RowCopies : public testing::TestWithParam<DType> {
protected:
  DType md = GetParam();
  std::mt19937 random{8};
  BucketShape bucket{100, 6, 60, 30};
  std::vector<int64_t> lengths = {60, 1, 0, 30}; // 91 of 100 tokens
  std::vector<int64_t> trained = {0, 3, 4, 58, 60, 89};
  HostTensor docs = segmentTable(bucket, lengths, trained);
};

} // namespace

TEST_P(RowCopies, Embedding) {
  for (int64_t width : {1, 40, 1500}) {
    HostTensor ids(DType::I32, {100}), weight = HostTensor(md, {50, width}, 2).randomize(random);
    HostTensor out(md, {100, width}, 3);
    for (int64_t t = 0; t < 91; ++t)
      ids.set(t, static_cast<double>(random() % 50)); // the tail's ids stay -1
    KernelCall{Kernel::Embedding, {&docs, &ids, &weight, &out}, {}, {}, bucket}.runDeterministic();
    for (int64_t t = 0; t < 100; ++t)
      for (int64_t i = 0; i < width; ++i)
        ASSERT_EQ(out.get(t * width + i), t < 91 ? weight.get(static_cast<int64_t>(ids.get(t)) * width + i) : 0);
  }
}

TEST_P(RowCopies, EmbeddingGradient) {
  for (DType storage : {md, DType::F32}) {
    for (bool accumulate : {false, true}) {
      for (int64_t width : {1, 40, 1500}) {
        int64_t vocabulary = 200;
        HostTensor ids(DType::I32, {100}), order(DType::I32, {100});
        HostTensor dout = HostTensor(md, {100, width}, 2).randomize(random);
        HostTensor dweight = HostTensor(storage, {vocabulary, width}, 3);
        if (accumulate)
          dweight.randomize(random);
        for (int64_t t = 0; t < 91; ++t)
          ids.set(t, static_cast<double>(t % 3 ? random() % 200 : 7)); // one id is frequent
        std::vector<int64_t> sorted(91);
        std::iota(sorted.begin(), sorted.end(), 0);
        std::stable_sort(sorted.begin(), sorted.end(), [&](int64_t a, int64_t b) { return ids.get(a) < ids.get(b); });
        for (int64_t t = 0; t < 91; ++t)
          order.set(t, static_cast<double>(sorted[t]));
        for (int64_t i = 91 * width; i < 100 * width; ++i)
          dout.set(i, NAN); // not read
        Values expected(vocabulary * width, 0.0);
        if (accumulate)
          expected = dweight.values();
        for (int64_t t = 0; t < 91; ++t)
          for (int64_t i = 0; i < width; ++i)
            expected[static_cast<int64_t>(ids.get(t)) * width + i] += dout.get(t * width + i);
        KernelCall{Kernel::EmbeddingGrad,
                   {&docs, &ids, &order, &dout, &dweight},
                   {},
                   accumulate ? std::vector{4} : std::vector<int>{},
                   bucket}
            .runDeterministic();
        EXPECT_CLOSE(dweight, expected);
      }
    }
  }
}

TEST_P(RowCopies, GatherAndScatter) {
  for (int64_t width : {1, 40, 1500}) {
    HostTensor x = HostTensor(md, {100, width}, 2).randomize(random), out(md, {30, width}, 1);
    KernelCall{Kernel::GatherRows, {&docs, &x, &out}, {}, {}, bucket}.runDeterministic();
    for (int64_t r = 0; r < 30; ++r)
      for (int64_t i = 0; i < width; ++i)
        ASSERT_EQ(out.get(r * width + i), r < 6 ? x.get(trained[r] * width + i) : 0);

    HostTensor dout = HostTensor(md, {30, width}, 2).randomize(random), dx(md, {100, width}, 1);
    KernelCall{Kernel::ScatterRows, {&docs, &dout, &dx}, {}, {}, bucket}.runDeterministic();
    Values expected(100 * width, 0.0);
    for (int64_t r = 0; r < 6; ++r)
      for (int64_t i = 0; i < width; ++i)
        expected[trained[r] * width + i] = dout.get(r * width + i);
    EXPECT_EQ(dx.values(), expected);
  }
}

TEST_P(RowCopies, GatherLabels) {
  HostTensor labels(DType::I32, {100}), out(DType::I32, {30});
  for (int64_t t = 0; t < 100; ++t)
    labels.set(t, static_cast<double>(t * 7));
  KernelCall{Kernel::GatherRows, {&docs, &labels, &out}, {}, {}, bucket}.run();
  for (int64_t r = 0; r < 30; ++r)
    EXPECT_EQ(out.get(r), r < 6 ? static_cast<double>(trained[r] * 7) : -100);
}

INSTANTIATE_TEST_SUITE_P(Storage, RowCopies, testing::Values(DType::F32, DType::BF16),
                         [](auto &info) { return std::string(dtypeName(info.param)); });
