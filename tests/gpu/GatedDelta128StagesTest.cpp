// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the launches of the delta rule on tensor cores leave for one another (device/GatedDelta128.h), each against f64:
// so that a fault in a result can be placed.
#include "runtime/backends/cuda/device/GatedDelta128.h"
#include "tests/gpu/DeviceHarness.h"
#include "tests/unit/cpu/GatedDeltaCase.h"

using namespace qrt;
using namespace qrt::cpu::test;
using namespace qrt::cpu::test::delta;
using namespace qrt::cuda::test;

namespace {

constexpr int64_t kWidth = 128, kC = kChunkTokens;

/// One value head of one document, in f64.
struct Head {
  /// By token: S~ k read, d (V'), the state after each chunk, and the gradient of the state after each chunk.
  std::vector<std::vector<double>> added, states, stateGradients;
};

Head walk(const Case &c, int64_t begin, int64_t length, int64_t head) {
  int64_t keyHead = head / (c.heads.values / c.heads.keys);
  auto key = [&](const HostTensor &x, int64_t t, int64_t i) {
    return x.get(((begin + t) * c.heads.keys + keyHead) * kWidth + i);
  };
  auto value = [&](const HostTensor &x, int64_t t, int64_t i) {
    return x.get(((begin + t) * c.heads.values + head) * kWidth + i);
  };
  auto gate = [&](const HostTensor &x, int64_t t) { return x.get((begin + t) * c.heads.values + head); };
  Head result;
  std::vector<double> s(kWidth * kWidth, 0), k(kWidth);
  for (int64_t t = 0; t < length; ++t) {
    if (t % kC == 0)
      result.states.push_back(s);
    std::vector<double> read(kWidth, 0), d(kWidth);
    double decay = std::exp(gate(c.g, t));
    for (int64_t i = 0; i < kWidth; ++i) {
      k[i] = key(c.k, t, i);
      for (int64_t j = 0; j < kWidth; ++j)
        read[j] += k[i] * (s[i * kWidth + j] *= decay);
    }
    for (int64_t j = 0; j < kWidth; ++j)
      d[j] = gate(c.beta, t) * (value(c.v, t, j) - read[j]);
    for (int64_t i = 0; i < kWidth; ++i)
      for (int64_t j = 0; j < kWidth; ++j)
        s[i * kWidth + j] += k[i] * d[j];
    result.added.push_back(d);
  }
  std::fill(s.begin(), s.end(), 0.0);
  result.stateGradients.resize(result.states.size());
  for (int64_t t = length; t-- > 0;) {
    if (t == length - 1 || t % kC == kC - 1)
      result.stateGradients[t / kC] = s;
    std::vector<double> dAdded(kWidth, 0);
    for (int64_t i = 0; i < kWidth; ++i) {
      k[i] = key(c.k, t, i);
      for (int64_t j = 0; j < kWidth; ++j)
        dAdded[j] += k[i] * (s[i * kWidth + j] += c.scale * key(c.q, t, i) * value(c.dout, t, j));
    }
    for (int64_t i = 0; i < kWidth; ++i)
      for (int64_t j = 0; j < kWidth; ++j)
        s[i * kWidth + j] = std::exp(gate(c.g, t)) * (s[i * kWidth + j] - k[i] * gate(c.beta, t) * dAdded[j]);
  }
  return result;
}

/// A panel [64, 64] of bf16 as the copy engine lays it out.
double panelAt(const std::byte *panel, int64_t row, int64_t col) {
  uint16_t bits;
  std::memcpy(&bits, panel + row * 128 + ((col / 8 ^ row % 8) * 16 + col % 8 * 2), 2);
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// norm(got - expected) / norm(expected), and where most of it is.
class Difference {
public:
  void add(double got, double expected, int64_t row, int64_t col) {
    double d = std::isfinite(got) ? got - expected : HUGE_VAL;
    if (std::abs(d) > worst_)
      worst_ = std::abs(d), row_ = row, col_ = col, got_ = got, expected_ = expected;
    difference_ += d * d;
    norm_ += expected * expected;
  }
  void expectBelow(double bound, const std::string &what) const {
    double error = norm_ > 0 ? std::sqrt(difference_ / norm_) : std::sqrt(difference_);
    EXPECT_LE(error, bound) << what << ": the largest difference is in row " << row_ << " column " << col_ << ": "
                            << got_ << " for " << expected_;
  }

private:
  double difference_ = 0, norm_ = 0, worst_ = -1, got_ = 0, expected_ = 0;
  int64_t row_ = 0, col_ = 0;
};

} // namespace

TEST(GatedDelta128Stages, LeaveWhatTheyShould) {
  // Whole chunks first, then a document with a partial one; two value heads of one key head.
  Case c(PackedRow({128, 0, 65}, 3), {1, 2, kWidth, kWidth}, DType::BF16, Decay::Mild, 5, DType::F32, 8);
  std::vector<std::byte> workspace = workspaceOnDevice(c.backward(false));
  if (compileOnly())
    return;
  int64_t chunks = SegmentLayout{c.row.bucket}.maxChunks(), pairs = chunks * c.heads.values;
  auto after = [](int64_t offset, int64_t bytes) { return offset + (bytes + 255) / 256 * 256; };
  int64_t chunksAt = after(0, c.row.bucket.documents * 16);
  int64_t statesAt = after(chunksAt, pairs * device::kDelta128ChunkBytes);
  int64_t valuesAt = after(statesAt, pairs * device::kDelta128StateBytes);
  int64_t gradientsAt = after(valuesAt, pairs * device::kDelta128ValueBytes);
  ASSERT_EQ(static_cast<int64_t>(workspace.size()), after(gradientsAt, pairs * device::kDelta128StateBytes));

  // The longest document first.
  std::vector<int32_t> order(c.row.bucket.documents * 4);
  std::memcpy(order.data(), workspace.data(), order.size() * 4);
  EXPECT_EQ(std::vector<int32_t>(order.begin(), order.begin() + 3), (std::vector<int32_t>{0, 128, 0}));
  EXPECT_EQ(std::vector<int32_t>(order.begin() + 4, order.begin() + 7), (std::vector<int32_t>{128, 193, 2}));
  EXPECT_EQ(std::vector<int32_t>(order.begin() + 8, order.begin() + 10), (std::vector<int32_t>{0, 0}));

  int64_t chunk = 0;
  for (size_t document = 0; document < c.row.lengths.size(); ++document)
    for (int64_t first = 0; first < c.row.lengths[document]; first += kC, ++chunk)
      for (int64_t head = 0; head < c.heads.values; ++head) {
        SCOPED_TRACE(testing::Message() << "document " << document << " chunk " << first / kC << " head " << head);
        int64_t begin = c.row.begins[document], n = std::min(kC, c.row.lengths[document] - first);
        auto gate = [&](const HostTensor &x, int64_t t) { return x.get((begin + first + t) * c.heads.values + head); };
        auto dot = [&](const HostTensor &x, int64_t i, int64_t j) {
          double sum = 0;
          for (int64_t d = 0; d < kWidth; ++d)
            sum += x.get((begin + first + i) * kWidth + d) * c.k.get((begin + first + j) * kWidth + d);
          return sum;
        };
        const std::byte *here =
            workspace.data() + chunksAt + (chunk * c.heads.values + head) * device::kDelta128ChunkBytes;
        std::vector<double> gamma(kC, 0), inverse(kC * kC, 0);
        for (int64_t t = 0; t < kC; ++t)
          gamma[t] = (t > 0 ? gamma[t - 1] : 0.0) + (t < n ? gate(c.g, t) : 0.0);
        Difference gates, transform, scores;
        for (int64_t t = 0; t < kC; ++t) {
          double expected[device::kDelta128Gates] = {t < n ? gate(c.beta, t) : 0, std::exp(gamma[t]),
                                                     t < n ? std::exp(gamma[kC - 1] - gamma[t]) : 0,
                                                     gamma[t] / std::log(2.0)};
          for (int i = 0; i < device::kDelta128Gates; ++i) {
            float got;
            std::memcpy(&got, here + 2 * device::kDelta128MatrixBytes + (i * kC + t) * 4, 4);
            gates.add(got, expected[i], i, t);
          }
        }
        gates.expectBelow(1e-6, "gates (rows: beta, decay, to the end, gamma)");
        for (int64_t i = 0; i < kC; ++i)
          for (int64_t j = 0; j < kC; ++j) {
            double &x = inverse[i * kC + j];
            x = i == j && i < n;
            for (int64_t t = j; t < i && i < n; ++t)
              x -= gate(c.beta, i) * dot(c.k, i, t) * inverse[t * kC + j];
            bool inside = j <= i && i < n;
            double decay = inside ? std::exp(gamma[i] - gamma[j]) : 0;
            transform.add(panelAt(here, i, j), x * decay, i, j);
            scores.add(panelAt(here + device::kDelta128MatrixBytes, i, j),
                       inside ? c.scale * dot(c.q, i, j) * decay : 0.0, i, j);
          }
        transform.expectBelow(2e-3, "T");
        scores.expectBelow(2e-3, "P");

        Head expected = walk(c, begin, c.row.lengths[document], head);
        Difference states, gradients, values;
        const std::byte *state =
            workspace.data() + statesAt + (chunk * c.heads.values + head) * device::kDelta128StateBytes;
        const std::byte *gradient = state - statesAt + gradientsAt;
        const std::byte *added =
            workspace.data() + valuesAt + (chunk * c.heads.values + head) * device::kDelta128ValueBytes;
        auto statePanel = [](int64_t i, int64_t j) { return (j / 64 * 2 + i / 64) * device::kDelta128MatrixBytes; };
        for (int64_t i = 0; i < kWidth; ++i)
          for (int64_t j = 0; j < kWidth; ++j) {
            // Transposed: rows are columns of V.
            states.add(panelAt(state + statePanel(i, j), j % 64, i % 64), expected.states[first / kC][i * kWidth + j],
                       i, j);
            gradients.add(panelAt(gradient + statePanel(i, j), j % 64, i % 64),
                          expected.stateGradients[first / kC][i * kWidth + j], i, j);
          }
        for (int64_t t = 0; t < kC; ++t)
          for (int64_t j = 0; j < kWidth; ++j)
            values.add(panelAt(added + j / 64 * device::kDelta128MatrixBytes, t, j % 64),
                       t < n ? expected.added[first + t][j] : 0.0, t, j);
        states.expectBelow(5e-3, "S before the chunk");
        values.expectBelow(5e-3, "V'");
        gradients.expectBelow(5e-3, "the gradient of S after the chunk");
      }
}
