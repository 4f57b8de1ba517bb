// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AdamW with decoupled weight decay (Loshchilov, Hutter: Decoupled Weight Decay Regularization, ICLR 2019), in f32
// whatever the storage; how the results are rounded is said in the catalog and in docs/design.md, Numbers. The moments
// enter the update before they are rounded.
#include "runtime/backends/cpu/Rows.h"
#include "runtime/base/Philox.h"

#include <cmath>

namespace qrt::cpu::QRT_ISA {

static void runOptimizerStep(const Call &call) {
  float norm = *call.args[0].as<const float>();
  int64_t *counters = call.args[1].as<int64_t>();
  ++counters[std::isfinite(norm) ? 0 : 1];
}
const KernelImpl kOptimizerStep = {runOptimizerStep};

namespace {

/// Random numbers of some elements of one piece: 16 bits for each number that is rounded.
struct Noise {
  uint16_t weight[kBlock], expAvg[kBlock], expAvgSq[kBlock];
};

/// What all elements of a call share.
struct Coefficients {
  float scale;                      // of the gradient
  float beta1, beta2, rest1, rest2; // rest = 1 - beta
  float rate, inverseRoot, eps;     // learning rate / (1 - beta1^t), 1 / sqrt(1 - beta2^t)
  float decay;                      // learning rate * weight decay
};

} // namespace

static Coefficients coefficientsOf(const Hyperparameters &hyper, float norm, int64_t step, bool decays) {
  double beta1 = hyper.beta1, beta2 = hyper.beta2, t = static_cast<double>(step);
  Coefficients c;
  c.scale = norm > hyper.clip ? hyper.clip / norm : 1.0f;
  c.beta1 = hyper.beta1;
  c.beta2 = hyper.beta2;
  c.rest1 = static_cast<float>(1.0 - beta1);
  c.rest2 = static_cast<float>(1.0 - beta2);
  c.rate = static_cast<float>(hyper.learningRate / (1.0 - std::pow(beta1, t)));
  c.inverseRoot = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(beta2, t)));
  c.eps = hyper.eps;
  c.decay = decays ? hyper.learningRate * hyper.weightDecay : 0.0f;
  return c;
}

/// Noise for n <= kBlock elements of a member from `first`: a number depends on seed, step, member, element and what it
/// is for alone. Four words make the halves of eight neighbours.
[[gnu::flatten]] static void fillNoise(uint64_t seed, uint64_t step, uint64_t member, uint64_t first, int64_t n,
                                       int64_t at, Noise &noise) {
  constexpr int64_t kGroup = 8, kWords = 4;
  PhiloxKey key = philoxKey(seed ^ member);
  uint64_t firstGroup = first / kGroup;
  int64_t skipped = static_cast<int64_t>(first % kGroup), groups = (skipped + n + kGroup - 1) / kGroup;
  uint16_t *halves[] = {noise.weight + at, noise.expAvg + at, noise.expAvgSq + at};
  for (uint32_t purpose = 0; purpose < 3; ++purpose) {
    uint32_t words[kWords * (kBlock / kGroup + 2)];
    for (int64_t i = 0; i < groups; ++i) {
      uint64_t group = firstGroup + static_cast<uint64_t>(i);
      PhiloxCounter drawn = philox4x32({static_cast<uint32_t>(group), static_cast<uint32_t>(group >> 32) << 2 | purpose,
                                        static_cast<uint32_t>(step), static_cast<uint32_t>(step >> 32)},
                                       key);
      for (int64_t j = 0; j < kWords; ++j)
        words[kWords * i + j] = drawn[static_cast<size_t>(j)];
    }
    for (int64_t i = 0; i < n; ++i)
      halves[purpose][i] = static_cast<uint16_t>(words[(skipped + i) / 2] >> (skipped + i) % 2 * 16);
  }
}

/// Rounds up with the probability of the distance: adds noise to the bits that fall away. Infinity and NaN stay what
/// they are.
static void roundStochastically(const float *__restrict x, const uint16_t *__restrict noise, BF16 *__restrict y,
                                int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits = std::bit_cast<uint32_t>(x[i]);
    uint32_t noisy = (bits + noise[i]) >> 16;
    bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    y[i].bits = finite ? static_cast<uint16_t>(noisy) : toBF16(x[i]).bits;
  }
}

static void updatePiece(const Coefficients c, const float *__restrict gradient, float *__restrict weight,
                        float *__restrict expAvg, float *__restrict expAvgSq, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    float g = gradient[i] * c.scale;
    float m = c.beta1 * expAvg[i] + c.rest1 * g;
    float v = c.beta2 * expAvgSq[i] + c.rest2 * (g * g);
    float change = c.rate * m / (__builtin_sqrtf(v) * c.inverseRoot + c.eps);
    expAvg[i] = m;
    expAvgSq[i] = v;
    // Not as a factor 1 - decay, which f32 rounds to few digits of the decay.
    weight[i] -= c.decay * weight[i] + change;
  }
}

/// A tensor's values of a piece: loaded to be changed, stored again.
static float *load(const Rows &rows, int64_t row, int64_t col, int64_t n, Buffer &buffer) {
  return const_cast<float *>(rows.read(row, col, n, buffer));
}

static void runAdamW(const Call &call) {
  float norm = *call.args[1].as<const float>();
  if (!std::isfinite(norm))
    return;
  // 0 only in a program whose optimizer_step saw another norm; its weights become infinite.
  int64_t step = call.args[2].as<const int64_t>()[0];
  const Hyperparameters &hyper = *call.args[3].as<const Hyperparameters>();
  uint64_t seed = static_cast<uint64_t>(*call.args[4].as<const int64_t>());
  Coefficients coefficients = coefficientsOf(hyper, norm, step, call.params[0].i != 0);
  std::span<const ParamValue> members = call.params.subspan(1);

  // As one row each, if all of them are without gaps.
  const Tensor &gradientArg = call.args[0], &weightArg = call.args[5], &masterArg = call.args[8];
  bool whole = true;
  for (const Tensor *tensor : {&gradientArg, &weightArg, &call.args[6], &call.args[7], &masterArg})
    whole = whole && (!*tensor || Rows::ofElements(*tensor).count() == 1);
  auto rowsOf = [&](const Tensor &tensor) { return whole ? Rows::ofElements(tensor) : Rows(tensor); };
  Rows gradient = rowsOf(gradientArg), weight = rowsOf(weightArg), master = rowsOf(masterArg);
  Rows expAvg = rowsOf(call.args[6]), expAvgSq = rowsOf(call.args[7]);
  // With a master the weight is a copy of it.
  Rows exact = master ? master : weight;
  bool noisyWeight = !master && weight.isBF16();
  bool noisy = noisyWeight || expAvg.isBF16() || expAvgSq.isBF16();

  int64_t perRow = (weight.cols() + kBlock - 1) / kBlock, pieces = weight.count() * perRow;
  constexpr int64_t kPieces = 16;
  call.threads.forEach((pieces + kPieces - 1) / kPieces, [&](int64_t task, int) {
    Noise noise;
    Buffer gradientBuffer, exactBuffer, expAvgBuffer, expAvgSqBuffer;
    for (int64_t piece = task * kPieces; piece < pieces && piece < (task + 1) * kPieces; ++piece) {
      int64_t row = piece / perRow, col = (piece - row * perRow) * kBlock;
      int64_t n = weight.cols() - col < kBlock ? weight.cols() - col : kBlock;
      const float *g = gradient.read(row, col, n, gradientBuffer);
      float *w = load(exact, row, col, n, exactBuffer);
      float *m = load(expAvg, row, col, n, expAvgBuffer), *v = load(expAvgSq, row, col, n, expAvgSqBuffer);
      updatePiece(coefficients, g, w, m, v, n);
      if (noisy) {
        // The pack's members follow one another; a piece may reach over several.
        int64_t begin = row * weight.cols() + col, memberBegin = 0;
        for (size_t i = 0; i + 1 < members.size(); i += 2) {
          int64_t memberEnd = memberBegin + members[i + 1].i;
          int64_t from = begin > memberBegin ? begin : memberBegin;
          int64_t to = begin + n < memberEnd ? begin + n : memberEnd;
          if (from < to)
            fillNoise(seed, static_cast<uint64_t>(step), static_cast<uint64_t>(members[i].i),
                      static_cast<uint64_t>(from - memberBegin), to - from, from - begin, noise);
          memberBegin = memberEnd;
        }
        assert(memberBegin >= begin + n && "the members cover the weight");
      }
      // f32 storage was changed in place.
      auto store = [&](const Rows &rows, const Buffer &buffer, const uint16_t *halves) {
        if (rows.isBF16())
          roundStochastically(buffer.values, halves, rows.bf16(row, col), n);
      };
      store(expAvg, expAvgBuffer, noise.expAvg);
      store(expAvgSq, expAvgSqBuffer, noise.expAvgSq);
      store(exact, exactBuffer, noise.weight);
      if (master)
        weight.write(row, col, n, w);
    }
  });
}
const KernelImpl kAdamW = {runAdamW};

} // namespace qrt::cpu::QRT_ISA
