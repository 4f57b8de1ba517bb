// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chunk's gradients of the gated delta rule on tensor cores (GatedDelta128.cuh), from what the scans left. With S
// before the chunk, dS' after it, and V', dV of the scans (dX = dV / beta):
//   dP = lower(dO V''); G = dV V''; M = -strictlower(G . D); dbeta_i = G_ii / beta_i^2
//   dQ = scale (e^gamma dO S' + (dP . D) K); dK = e^(gamma_C - gamma) V' dS'' - e^gamma dV S' + (dP . D)' Q + (M + M')
//   K
// The gradient of gamma_i - gamma_j is E_ij = (dP . D)_ij q_i.k_j + M_ij k_i.k_j, and g_t is in the pairs j < t <= i.
// That dbeta is so short follows from X = (I + A) V': beta_i R_i = V'_i + sum_j A_ij V'_j, whose second term is what
// the gradient through A takes off again.
#include "GatedDelta128.cuh"

namespace qrt::device {

/// What comes of a value head, in this order, each two panels; S and its gradient in halves of dv.
enum Delta128Item { kItemState0, kItemState1, kItemDOut, kItemDV, kItemValues, kItemDState0, kItemDState1, kGradItems };
constexpr int kGradSlots = 10;
constexpr int kSlot = 2 * kPanel;

/// What the two warpgroups leave of a value head for the warp that makes dg: [64] sums by token.
struct Delta128GradSums {
  float rows[2][kDeltaChunk], columns[2][4][kDeltaChunk], reads[2][kDeltaChunk], writes[2][kDeltaChunk], through[8];
};

struct Delta128GradShared {
  unsigned char slots[kGradSlots][kSlot];
  unsigned char keys[kSlot], queries[kSlot];
  /// scale q_i.k_j, and k_i.k_j; after the last value head the sums of dP . D and of M.
  unsigned char pairs[2][kPanel];
  float gates[2][kDelta128Gates][kDeltaChunk];
  Delta128GradSums sums[2];
  Barrier full[kGradSlots], empty[kGradSlots], keysFull, keysEmpty;
};
static_assert(sizeof(Delta128GradShared) == kDelta128GradBytes);

/// Lanes that differ in `kBit` exchange halves of 2 kCount values: each adds up the half that its bit names, in x[0]
/// and on.
template <int kCount, int kBit> __device__ __forceinline__ void exchangeHalves(float (&x)[16]) {
  bool upper = threadIdx.x & kBit;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    float give = upper ? x[i] : x[i + kCount], keep = upper ? x[i + kCount] : x[i];
    x[i] = keep + __shfl_xor_sync(0xFFFFFFFFu, give, kBit);
  }
}

/// x[16]: what a lane has for columns 8 n + 2 t and the next, n = 0..7. Writes the sums over the warp's eight lanes of
/// each t.
__device__ __forceinline__ void sumColumns(float (&x)[16], float *out) {
  exchangeHalves<8, 16>(x);
  exchangeHalves<4, 8>(x);
  exchangeHalves<2, 4>(x);
  int lane = threadIdx.x % 32, n = lane / 16 * 4 + lane / 8 % 2 * 2 + lane / 4 % 2;
  *reinterpret_cast<float2 *>(out + 8 * n + 2 * (lane % 4)) = make_float2(x[0], x[1]);
}

/// d [64, 64] = a [64, 128] b, a in two panels; b' too for Major::K, else b [128, 64] in panels b0 and b1 of 64 rows.
template <Major kB>
__device__ __forceinline__ void multiplyShared(float (&d)[32], const unsigned char *a, const unsigned char *b0,
                                               const unsigned char *b1) {
#pragma unroll
  for (int step = 0; step < 8; ++step) {
    unsigned inPanel = step % 4 * 32, alongRows = kB == Major::K ? inPanel : step % 4 * 2048;
    product<64, Major::K, kB>(d, advanced(operand<Major::K>(a + step / 4 * kPanel, 0), inPanel),
                              advanced(operand<kB>(step < 4 ? b0 : b1, kPanel), alongRows), step > 0);
  }
}
/// d [64, 64] += a b of panels [64, 64]; with Major::MN a is transposed.
template <Major kA>
__device__ __forceinline__ void addShared(float (&d)[32], const unsigned char *a, const unsigned char *b) {
#pragma unroll
  for (int step = 0; step < 4; ++step)
    product<64, kA, Major::MN>(d, advanced(operand<kA>(a, kPanel), step * (kA == Major::K ? 32 : 2048)),
                               advanced(operand<Major::MN>(b, kPanel), step * 2048), 1);
}

/// Of the two rows of a lane, the sums over the columns of d . x, x a panel of bf16.
__device__ __forceinline__ void rowDots(float (&sums)[2], const float (&d)[32], const unsigned char *panel) {
  int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane / 4;
  sums[0] = sums[1] = 0.0f;
#pragma unroll
  for (int n = 0; n < 8; ++n)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      unsigned pair = *reinterpret_cast<const unsigned *>(panel + panelOffset(row + 8 * half, 8 * n + lane % 4 * 2));
      sums[half] = fmaf(d[4 * n + 2 * half], lowBf16(pair), sums[half]);
      sums[half] = fmaf(d[4 * n + 2 * half + 1], highBf16(pair), sums[half]);
    }
}

/// Rows of the lane's fragment [64, 64], rounded, to a panel.
__device__ __forceinline__ void storePanel(unsigned char *panel, const float (&d)[32], float scale) {
  unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane % 16;
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const float *x = d + 8 * step;
    storeMatrices<false>(panel + panelOffset(row, step * 16 + lane / 16 * 8), packBf16(scale * x[0], scale * x[1]),
                         packBf16(scale * x[2], scale * x[3]), packBf16(scale * x[4], scale * x[5]),
                         packBf16(scale * x[6], scale * x[7]));
  }
}

/// Rows [16 w, 16 w + 16) of the warp's panel, which it has just written, to the first n rows from `to`.
__device__ __forceinline__ void copyOwnRows(bf16 *to, i64 stride, const unsigned char *panel, int n) {
  unsigned lane = threadIdx.x % 32, col = lane % 8 * 8;
  __syncwarp();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    int row = threadIdx.x / 32 % 4 * 16 + 4 * i + lane / 8;
    if (row < n)
      *reinterpret_cast<uint4 *>(to + row * stride + col) =
          *reinterpret_cast<const uint4 *>(panel + panelOffset(row, col));
  }
}

/// What one thread loads: keys and queries of the block's chunks.
__device__ __forceinline__ void loadGradKeys(const Delta128GradParams &p, Delta128GradShared &shared, int chunks) {
  unsigned parity = 1;
  for (int index = blockIdx.y; index < chunks; index += gridDim.y, parity ^= 1) {
    int row = chunkBegin(p.shape.docs, index);
    wait(&shared.keysEmpty, parity);
    arriveAndExpect(&shared.keysFull, 2 * kSlot);
    for (int i = 0; i < 2; ++i) {
      copyBox(shared.keys + i * kPanel, p.k, &shared.keysFull, 64 * i, blockIdx.x, row);
      copyBox(shared.queries + i * kPanel, p.q, &shared.keysFull, 64 * i, blockIdx.x, row);
    }
  }
}

/// What another loads: of each value head the items, in the slots in turn.
__device__ __forceinline__ void loadGradItems(const Delta128GradParams &p, Delta128GradShared &shared, int chunks) {
  const DeltaShape &shape = p.shape;
  int slot = 0, heads = p.heads, turn = 0;
  unsigned parity = 1;
  for (int index = blockIdx.y; index < chunks; index += gridDim.y) {
    int row = chunkBegin(shape.docs, index);
    for (int head = blockIdx.x * heads, last = head + heads; head < last; ++head, turn ^= 1) {
      const unsigned char *state = delta128At(p.workspace.states, shape, index, head, kDelta128StateBytes);
      const unsigned char *dState = delta128At(p.workspace.stateGradients, shape, index, head, kDelta128StateBytes);
      for (int item = 0; item < kGradItems; ++item) {
        unsigned char *to = shared.slots[slot];
        Barrier *full = &shared.full[slot];
        wait(&shared.empty[slot], parity);
        arriveAndExpect(full, kSlot + (item == 0 ? kDelta128GateBytes : 0));
        switch (item) {
        case kItemState0:
          copyBytes(shared.gates[turn],
                    delta128At(p.workspace.chunks, shape, index, head, kDelta128ChunkBytes) + 2 * kDelta128MatrixBytes,
                    kDelta128GateBytes, full);
          copyBytes(to, state, kSlot, full);
          break;
        case kItemState1:
          copyBytes(to, state + kSlot, kSlot, full);
          break;
        case kItemDOut:
          copyBox(to, p.dOut, full, 0, head, row);
          copyBox(to + kPanel, p.dOut, full, 64, head, row);
          break;
        case kItemDV:
          copyBox(to, p.dV, full, 0, head, row);
          copyBox(to + kPanel, p.dV, full, 64, head, row);
          break;
        case kItemValues:
          copyBytes(to, delta128At(p.workspace.values, shape, index, head, kDelta128ValueBytes), kSlot, full);
          break;
        case kItemDState0:
          copyBytes(to, dState, kSlot, full);
          break;
        default:
          copyBytes(to, dState + kSlot, kSlot, full);
        }
        if (++slot == kGradSlots)
          slot = 0, parity ^= 1;
      }
    }
  }
}

/// dg of a chunk and value head, by a warp: two tokens a lane.
__device__ __forceinline__ void storeDecayGradient(const Delta128GradSums &sums, float total, const HeadTensor &dG,
                                                   int row, int head, int n) {
  int lane = threadIdx.x % 32;
  float later[2], earlier[2], through = 0.0f;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    int t = 2 * lane + i;
    float columns = 0.0f;
#pragma unroll
    for (int w = 0; w < 8; ++w)
      columns += sums.columns[w / 4][w % 4][t];
    later[i] = sums.rows[0][t] + sums.rows[1][t] - columns + sums.reads[0][t] + sums.reads[1][t];
    earlier[i] = sums.writes[0][t] + sums.writes[1][t];
  }
#pragma unroll
  for (int w = 0; w < 8; ++w)
    through += sums.through[w];
  float after = later[0] + later[1], before = earlier[0] + earlier[1], own = before;
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    float x = __shfl_down_sync(0xFFFFFFFFu, after, offset), y = __shfl_up_sync(0xFFFFFFFFu, before, offset);
    after += lane + offset < 32 ? x : 0.0f;
    before += lane >= offset ? y : 0.0f;
  }
  before -= own;
  float dg[2] = {after + before, after - later[0] + before + earlier[0]};
#pragma unroll
  for (int i = 0; i < 2; ++i)
    if (2 * lane + i < n)
      *rowOfHead<float>(dG, row + 2 * lane + i, head) = dg[i] + total * through;
}

/// A block takes chunks of a key head in turn, and loads what the next one needs while it finishes one. Grid: K, as
/// many as fit.
template <typename TDBeta>
__global__ void __launch_bounds__(kDelta128GradThreads, 1)
    gatedDelta128Grad(const __grid_constant__ Delta128GradParams p) {
  awaitEarlierGrids();
  const DeltaShape &shape = p.shape;
  Delta128GradShared &shared = *sharedMemory<Delta128GradShared>();
  int chunks = segmentChunks(shape.docs), heads = p.heads;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kGradSlots; ++i) {
      initBarrier(&shared.full[i], 1);
      initBarrier(&shared.empty[i], 8);
    }
    initBarrier(&shared.keysFull, 1);
    initBarrier(&shared.keysEmpty, 8);
    fenceBarriers();
  }
  __syncthreads();

  if (threadIdx.x >= 256) {
    giveRegisters<24>();
    if (threadIdx.x == 256)
      loadGradItems(p, shared, chunks);
    else if (threadIdx.x == 288)
      loadGradKeys(p, shared, chunks);
    return;
  }
  takeRegisters<240>();

  // The first group has dP, the second G; of dQ and dK each has the columns of its half of dk.
  int group = threadIdx.x / 128, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, t2 = lane % 4 * 2;
  int row = 16 * warp + lane / 4;
  // Else what follows from the row alone is made before the loop, and there are no registers to keep it.
  asm volatile("" : "+r"(row));
  unsigned char *keys = shared.keys + group * kPanel, *queries = shared.queries + group * kPanel;
  // Value heads done.
  int done = 0;
  unsigned keysParity = 0;
  for (int index = blockIdx.y; index < chunks; index += gridDim.y, keysParity ^= 1) {
    DeltaChunk chunk = deltaChunk(shape.docs, index);
    bool real[2] = {row < chunk.n, row + 8 < chunk.n};
    wait(&shared.keysFull, keysParity);
    if (chunk.n < kDeltaChunk) {
      delta128ZeroRows(shared.keys, 2, chunk.n, threadIdx.x, 256);
      delta128ZeroRows(shared.queries, 2, chunk.n, threadIdx.x, 256);
      fenceShared();
    }
    syncThreads(1, 256);

    // What a thread writes here it alone reads.
    unsigned char *pairs = shared.pairs[group];
    {
      float d[32];
      beginProducts();
      multiplyShared<Major::K>(d, group == 0 ? shared.queries : shared.keys, shared.keys, shared.keys + kPanel);
      endProducts();
      waitProducts();
      pin(d);
      // Without the diagonal, which adds as much to its row of E as to its column.
      float scale = group == 0 ? shape.scale : 1.0f;
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        int r = row + i % 2 * 8, c = i / 2 * 8 + t2;
        *reinterpret_cast<unsigned *>(pairs + panelOffset(r, c)) =
            packBf16(c == r ? 0.0f : scale * d[2 * i], c + 1 == r ? 0.0f : scale * d[2 * i + 1]);
      }
    }

    // Sums over the value heads: of dP . D or M, of dQ / scale, and of dK.
    float scores[32] = {}, dQ[32] = {}, dK[32] = {};
    for (int h = 0; h < heads; ++h, ++done) {
      // The slot of the head's first item, and the parity of its turn.
      int head = static_cast<int>(blockIdx.x) * heads + h, turn = done & 1, first = done * kGradItems % kGradSlots;
      unsigned parity = done * kGradItems / kGradSlots & 1;
      auto slotOf = [&](int item) { return first + item < kGradSlots ? first + item : first + item - kGradSlots; };
      auto ready = [&](int item) { wait(&shared.full[slotOf(item)], first + item < kGradSlots ? parity : parity ^ 1); };
      auto panel = [&](int item, int i) { return shared.slots[slotOf(item)] + i * kPanel; };
      const float *beta = shared.gates[turn][kGateBeta], *decay = shared.gates[turn][kGateDecay];
      const float *toEnd = shared.gates[turn][kGateToEnd], *gamma = shared.gates[turn][kGateGamma];
      Delta128GradSums &sums = shared.sums[turn];

      float x[32], y[32], reads[2], dots[2];
      ready(kItemState0);
      ready(kItemState1);
      ready(kItemDOut);
      ready(kItemDV);
      beginProducts();
      multiplyShared<Major::MN>(x, panel(kItemDOut, 0), panel(kItemState0, group), panel(kItemState1, group));
      endProducts();
      multiplyShared<Major::MN>(y, panel(kItemDV, 0), panel(kItemState0, group), panel(kItemState1, group));
      endProducts();
      float decays[2] = {decay[row], decay[row + 8]};
      waitProducts<1>();
      pin(x);
      // dO S'
      rowDots(dots, x, queries);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        reads[half] = shape.scale * decays[half] * dots[half];
#pragma unroll
        for (int n = 0; n < 8; ++n) {
          dQ[4 * n + 2 * half] = fmaf(decays[half], x[4 * n + 2 * half], dQ[4 * n + 2 * half]);
          dQ[4 * n + 2 * half + 1] = fmaf(decays[half], x[4 * n + 2 * half + 1], dQ[4 * n + 2 * half + 1]);
        }
      }
      // dP, or G
      ready(kItemValues);
      beginProducts();
      multiplyShared<Major::K>(x, group == 0 ? panel(kItemDOut, 0) : panel(kItemDV, 0), panel(kItemValues, 0),
                               panel(kItemValues, 1));
      endProducts();
      waitProducts<1>();
      pin(y);
      // dV S'
      rowDots(dots, y, keys);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        reads[half] = real[half] ? reads[half] - decays[half] * dots[half] : 0.0f;
#pragma unroll
        for (int n = 0; n < 8; ++n) {
          dK[4 * n + 2 * half] = fmaf(-decays[half], y[4 * n + 2 * half], dK[4 * n + 2 * half]);
          dK[4 * n + 2 * half + 1] = fmaf(-decays[half], y[4 * n + 2 * half + 1], dK[4 * n + 2 * half + 1]);
        }
      }
      waitProducts();
      pin(x);
      float rows[2] = {}, columns[16], gammas[2] = {gamma[row], gamma[row + 8]};
      float sign = group == 0 ? 1.0f : -1.0f;
#pragma unroll
      for (int n = 0; n < 8; ++n) {
        float2 other = *reinterpret_cast<const float2 *>(gamma + 8 * n + t2);
        unsigned pair[2];
#pragma unroll
        for (int half = 0; half < 2; ++half)
          pair[half] = *reinterpret_cast<const unsigned *>(pairs + panelOffset(row + 8 * half, 8 * n + t2));
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float column = 0.0f;
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            int i = row + 8 * half, j = 8 * n + t2 + e, at = 4 * n + 2 * half + e;
            bool counts = j <= i - group && real[half];
            float d = counts ? approximateExp2(gammas[half] - (e == 0 ? other.x : other.y)) : 0.0f;
            float product = e == 0 ? lowBf16(pair[half]) : highBf16(pair[half]);
            float value = counts ? sign * x[at] * d : 0.0f;
            rows[half] = fmaf(value, product, rows[half]);
            column = fmaf(value, product, column);
            scores[at] += value;
          }
          columns[2 * n + e] = column;
        }
      }
      sumColumns(columns, sums.columns[group][warp]);
      // The diagonal of rows g and g + 8 is in the columns g of blocks 2 warp and 2 warp + 1.
      if (group == 1 && lane % 4 == lane / 8)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          float own = 0.0f, inverse = approximateReciprocal(beta[row + 8 * half]);
#pragma unroll
          for (int i = 0; i < 8; ++i)
            own = i / 2 == warp && i % 2 == lane / 4 % 2 ? x[4 * (i / 2 * 2 + half) + 2 * half + i % 2] : own;
          if (real[half])
            *rowOfHead<TDBeta>(p.dBeta, chunk.row + row + 8 * half, head) = fromFloat<TDBeta>(own * inverse * inverse);
        }
      // V' dS''
      ready(kItemDState0);
      ready(kItemDState1);
      beginProducts();
      multiplyShared<Major::MN>(y, panel(kItemValues, 0), panel(kItemDState0, group), panel(kItemDState1, group));
      endProducts();
      // <dS', S>, while that runs: two panels of four for each group.
      float through = 0.0f;
#pragma unroll 4
      for (int i = 0; i < 8; ++i) {
        int offset = (i % 4 * 128 + threadIdx.x % 128) * 16, half = i / 4;
        uint4 s = *reinterpret_cast<const uint4 *>(panel(half == 0 ? kItemState0 : kItemState1, group) + offset);
        uint4 d = *reinterpret_cast<const uint4 *>(panel(half == 0 ? kItemDState0 : kItemDState1, group) + offset);
        unsigned left[4] = {s.x, s.y, s.z, s.w}, right[4] = {d.x, d.y, d.z, d.w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          through = fmaf(lowBf16(left[j]), lowBf16(right[j]), through);
          through = fmaf(highBf16(left[j]), highBf16(right[j]), through);
        }
      }
      through = warpSum(through);
      waitProducts();
      pin(y);
      float toEnds[2] = {toEnd[row], toEnd[row + 8]};
      rowDots(dots, y, keys);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int n = 0; n < 8; ++n) {
          dK[4 * n + 2 * half] = fmaf(toEnds[half], y[4 * n + 2 * half], dK[4 * n + 2 * half]);
          dK[4 * n + 2 * half + 1] = fmaf(toEnds[half], y[4 * n + 2 * half + 1], dK[4 * n + 2 * half + 1]);
        }
        float sum = quadSum(rows[half]), read = quadSum(reads[half]), write = quadSum(toEnds[half] * dots[half]);
        if (lane % 4 == 0) {
          sums.rows[group][row + 8 * half] = sum;
          sums.reads[group][row + 8 * half] = read;
          sums.writes[group][row + 8 * half] = write;
        }
      }
      if (lane == 0)
        sums.through[4 * group + warp] = through;
      float total = decay[kDeltaChunk - 1];
      __syncwarp();
      if (lane == 0)
#pragma unroll
        for (int item = 0; item < kGradItems; ++item)
          arrive(&shared.empty[slotOf(item)]);
      syncThreads(1, 256);
      if (warp == 0 && group == turn)
        storeDecayGradient(sums, total, p.dG, chunk.row, head, chunk.n);
    }

    storePanel(pairs, scores, group == 0 ? shape.scale : 1.0f);
    fenceShared();
    syncThreads(1, 256);
#pragma unroll
    for (int i = 0; i < 32; ++i)
      dQ[i] *= shape.scale;
    beginProducts();
    addShared<Major::K>(dQ, shared.pairs[0], keys);
    endProducts();
    addShared<Major::MN>(dK, shared.pairs[0], queries);
    addShared<Major::K>(dK, shared.pairs[1], keys);
    addShared<Major::MN>(dK, shared.pairs[1], keys);
    endProducts();
    waitProducts();
    pin(dQ);
    pin(dK);
    // The group's halves of the queries and keys are not needed any more: dQ and dK on their way out.
    syncThreads(2 + group, 128);
    storePanel(queries, dQ, 1.0f);
    storePanel(keys, dK, 1.0f);
    copyOwnRows(rowOfHead<bf16>(p.dQ, chunk.row, blockIdx.x) + 64 * group, p.dQ.row, queries, chunk.n);
    copyOwnRows(rowOfHead<bf16>(p.dK, chunk.row, blockIdx.x) + 64 * group, p.dK.row, keys, chunk.n);
    // Ordinary accesses come before those of the copy engine.
    fenceShared();
    __syncwarp();
    if (lane == 0)
      arrive(&shared.keysEmpty);
  }
}

} // namespace qrt::device
