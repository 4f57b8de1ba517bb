// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/cpu/NormCase.h"

using namespace qrt;
using namespace qrt::cpu::test;

namespace {

using Values = std::vector<double>;
constexpr double kEps = 1e-3, kTheta = 10000;
const std::vector<int64_t> kLengths = {1, 5, 0, 17, 2};
constexpr int64_t kTokens = 29; // four of them in no document

/// docs/model.md, Full attention 2-3, for heads [T, heads, width]; zeros outside every document.
Values normRope(const Values &x, const Values &w, int64_t heads, int64_t rotary, Values *rstd = nullptr) {
  int64_t width = static_cast<int64_t>(w.size());
  Values y(x.size(), 0.0);
  if (rstd)
    rstd->assign(kTokens * heads, 0.0);
  int64_t begin = 0;
  for (int64_t length : kLengths) {
    for (int64_t t = begin; t < begin + length; ++t) {
      for (int64_t head = 0; head < heads; ++head) {
        const double *in = &x[(t * heads + head) * width];
        double *out = &y[(t * heads + head) * width];
        double squares = 0;
        for (int64_t i = 0; i < width; ++i)
          squares += in[i] * in[i];
        double r = 1 / std::sqrt(squares / static_cast<double>(width) + kEps);
        if (rstd)
          (*rstd)[t * heads + head] = r;
        for (int64_t i = 0; i < width; ++i)
          out[i] = in[i] * r * (1 + w[i]);
        for (int64_t i = 0; i < rotary / 2; ++i) {
          float frequency = 1.0f / static_cast<float>(std::pow(kTheta, 2.0 * static_cast<double>(i) / rotary));
          double angle = static_cast<double>(t - begin) * frequency;
          double a = out[i], b = out[i + rotary / 2];
          out[i] = a * std::cos(angle) - b * std::sin(angle);
          out[i + rotary / 2] = b * std::cos(angle) + a * std::sin(angle);
        }
      }
    }
    begin += length;
  }
  return y;
}

class QkNormRope : public NormTest {
protected:
  QkNormRope() : NormTest(7) {}

  BucketShape bucket{kTokens, 7, 20, 4};
  HostTensor docs = segmentTable(bucket, kLengths);
  static std::vector<std::array<int64_t, 4>> shapes() { // query heads, key heads, width, rotary dimensions
    return {{1, 1, 2, 2}, {3, 1, 24, 6}, {4, 2, 32, 32}, {2, 2, 20, 0}};
  }
};

} // namespace

TEST_P(QkNormRope, Forward) {
  for (auto [heads, keyHeads, width, rotary] : shapes()) {
    HostTensor qIn = make(md, {kTokens, heads, width}, width), kIn = make(md, {kTokens, keyHeads, width}, 3);
    HostTensor qw = make(wt, {width}, 0, 0.3), kw = make(wt, {width}, 0, 0.3);
    HostTensor q(md, {kTokens, heads, width}), k(md, {kTokens, keyHeads, width}, 1);
    HostTensor qr(DType::F32, {kTokens, heads}), kr(DType::F32, {kTokens, keyHeads});
    KernelCall call{Kernel::QkNormRope,
                    {&docs, &qIn, &kIn, &qw, &kw, &q, &k, &qr, &kr},
                    {floatParam(kEps), floatParam(kTheta), intParam(rotary)},
                    {},
                    bucket};
    call.runDeterministic();
    Values expectedQr, expectedKr;
    EXPECT_CLOSE(q, normRope(qIn.values(), qw.values(), heads, rotary, &expectedQr));
    EXPECT_CLOSE(k, normRope(kIn.values(), kw.values(), keyHeads, rotary, &expectedKr));
    EXPECT_CLOSE(qr, expectedQr);
    EXPECT_CLOSE(kr, expectedKr);
  }
}

TEST_P(QkNormRope, Gradient) {
  for (auto [heads, keyHeads, width, rotary] : shapes()) {
    for (bool saved : {false, true}) {
      std::vector<int64_t> qDims = {kTokens, heads, width}, kDims = {kTokens, keyHeads, width};
      HostTensor qIn = make(md, qDims, width), kIn = make(md, kDims, 3), dq = make(md, qDims), dk = make(md, kDims, 1);
      HostTensor qw = make(wt, {width}, 0, 0.3), kw = make(wt, {width}, 0, 0.3);
      HostTensor dqIn(md, qDims, 2), dkIn(md, kDims, 1), dqw(wt, {width}), dkw = make(wt, {width});
      HostTensor qr(DType::F32, {kTokens, heads}), kr(DType::F32, {kTokens, keyHeads});
      Values qv = qIn.values(), kv = kIn.values(), qwv = qw.values(), kwv = kw.values(), qrv, krv;
      Values dqv = dq.values(), dkv = dk.values(), old = dkw.values();
      normRope(qv, qwv, heads, rotary, &qrv);
      normRope(kv, kwv, keyHeads, rotary, &krv);
      qr.fill(qrv);
      kr.fill(krv);
      KernelCall{Kernel::QkNormRopeGrad,
                 {&docs, &qIn, &kIn, &qw, &kw, saved ? &qr : nullptr, saved ? &kr : nullptr, &dq, &dk, &dqIn, &dkIn,
                  &dqw, &dkw},
                 {floatParam(kEps), floatParam(kTheta), intParam(rotary)},
                 {12},
                 bucket}
          .runDeterministic();
      EXPECT_CLOSE(dqIn,
                   numericGradient(qv, [&](const Values &v) { return inner(normRope(v, qwv, heads, rotary), dqv); }));
      EXPECT_CLOSE(
          dkIn, numericGradient(kv, [&](const Values &v) { return inner(normRope(v, kwv, keyHeads, rotary), dkv); }));
      EXPECT_CLOSE(dqw,
                   numericGradient(qwv, [&](const Values &v) { return inner(normRope(qv, v, heads, rotary), dqv); }));
      Values expected =
          numericGradient(kwv, [&](const Values &v) { return inner(normRope(kv, v, keyHeads, rotary), dkv); });
      for (size_t i = 0; i < expected.size(); ++i)
        expected[i] += old[i];
      EXPECT_CLOSE(dkw, expected);
    }
  }
}

// Whatever lies in the tail, NaN included, is not read.
TEST_P(QkNormRope, TailIsNotRead) {
  int64_t heads = 2, width = 8;
  HostTensor qIn = make(md, {kTokens, heads, width}), kIn = make(md, {kTokens, heads, width});
  HostTensor w = make(wt, {width}), q(md, {kTokens, heads, width}), k(md, {kTokens, heads, width});
  for (int64_t i = 25 * heads * width; i < qIn.elements(); ++i) {
    qIn.set(i, NAN);
    kIn.set(i, NAN);
  }
  KernelCall{Kernel::QkNormRope,
             {&docs, &qIn, &kIn, &w, &w, &q, &k, nullptr, nullptr},
             {floatParam(kEps), floatParam(kTheta), intParam(4)},
             {},
             bucket}
      .run();
  for (int64_t i = 25 * heads * width; i < q.elements(); ++i) {
    EXPECT_EQ(q.get(i), 0);
    EXPECT_EQ(k.get(i), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Storage, QkNormRope, allNormTypes(), nameOfTypes);
