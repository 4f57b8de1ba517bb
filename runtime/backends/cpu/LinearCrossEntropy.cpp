// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The head's product and the cross-entropy of its result, a tile of rows at a time (docs/model.md, Loss). Tiles without
// a trained row are skipped.
//
// Gradient: dlogits = (softmax - onehot) dloss; dx = dlogits W; dW = dlogits^T x. The sum over tiles that gives dW is
// kept in f32: in dW itself where it is stored so. Where dW is bf16 it is made a block of the vocabulary at a time, in
// an f32 block in scratch, and the block's logits are computed again for every tile: a third more arithmetic, and no
// second copy of dW.
#include "runtime/backends/cpu/ColumnSums.h"
#include "runtime/backends/cpu/Gemm.h"

#include <cmath>

namespace qrt::cpu::QRT_ISA {

namespace {

constexpr int64_t kMostTileRows = 1024;

/// What dlogits needs of a row: exp(logit - largest) * scale, scale = dloss / sum of exponentials; 0 in a row that is
/// not trained.
struct RowStatistics {
  float largest, scale;
};

/// Rows [start, start + rows) of a matrix.
Tensor rowsOf(Tensor matrix, int64_t start, int64_t rows) {
  if (matrix)
    matrix.data = matrix.as<std::byte>() + start * matrix.shape.strides[0] * byteSize(matrix.shape.dtype);
  matrix.shape.dims[0] = rows;
  return matrix;
}

/// [rows, cols] at the beginning of the memory of `tensor`, as elements of another type and with another distance of
/// rows.
Tensor asMatrix(const Tensor &tensor, DType dtype, int64_t rows, int64_t cols, int64_t stride) {
  return {{dtype, 2, {rows, cols}, {stride, 1}}, tensor.data};
}

/// The products of one call and the scratch that they share. Everything follows from shapes, so that the scratch can be
/// sized ahead.
class Head {
public:
  const Call &call;
  Tensor x, weight, logits, dx, dweight;
  int64_t rows, width, vocabulary, tile;

  Head(const Call &call, int dxArg, int dweightArg) : call(call), x(call.args[0]), weight(call.args[1]) {
    if (dxArg >= 0) {
      dx = call.args[dxArg];
      dweight = call.args[dweightArg];
      hasWeightGradient_ = dweight.shape.rank == 2;
    }
    rows = x.shape.dims[0];
    width = x.shape.dims[1];
    vocabulary = weight.shape.dims[0];
    // As many rows at a time as the workspace has room for.
    tile = call.workspaceBytes / (vocabulary * static_cast<int64_t>(sizeof(float)));
    assert(tile > 0 && "a workspace of cpuWorkspaceBytes()");
    for (int64_t most : {rows, kMostTileRows})
      tile = tile < most ? tile : most;
    logits = asMatrix({{}, call.workspace}, DType::F32, tile, vocabulary, vocabulary);
    blockColumns_ = vocabulary;
    if (makesWeightGradientInBlocks()) {
      // A block of about 16 MiB.
      int64_t columns = (int64_t{4} << 20) / (width > 0 ? width : 1);
      columns = (columns < 256 ? 256 : columns) / 64 * 64;
      blockColumns_ = columns < vocabulary ? columns : vocabulary;
    }
    sharedBytes_ = alignUp(rows * static_cast<int64_t>(sizeof(RowStatistics)));
    if (makesWeightGradientInBlocks())
      sharedBytes_ += alignUp(blockColumns_ * width * static_cast<int64_t>(sizeof(float)));
    gemmBytes_ = largestGemmBytes(dxArg >= 0);
  }

  bool hasWeightGradient() const { return hasWeightGradient_; }
  bool makesWeightGradientInBlocks() const { return hasWeightGradient_ && dweight.shape.dtype == DType::BF16; }
  int64_t blockColumns() const { return blockColumns_; }
  int64_t tileRows(int64_t start) const { return rows - start < tile ? rows - start : tile; }

  int64_t scratchBytes() const { return alignUp(shareOfScratch(call, sharedBytes_)) + gemmBytes_; }
  RowStatistics *statistics() const { return reinterpret_cast<RowStatistics *>(call.scratch); }
  float *weightBlock() const {
    return reinterpret_cast<float *>(scratchAt(alignUp(rows * static_cast<int64_t>(sizeof(RowStatistics)))));
  }

  /// logits[rows, cols] = x W^T for some rows and words, packed without gaps.
  GemmCall product(int64_t start, int64_t n, int64_t firstWord, int64_t words) const {
    return gemmOf(rowsOf(x, start, n), rowsOf(weight, firstWord, words), asMatrix(logits, DType::F32, n, words, words),
                  false, true, false);
  }
  /// dlogits lies over the logits: row by row, in the storage type of x.
  Tensor dlogits(int64_t n, int64_t words) const {
    bool bf16 = x.shape.dtype == DType::BF16;
    return asMatrix(logits, x.shape.dtype, n, words, bf16 ? 2 * words : words);
  }
  GemmCall inputGradient(int64_t start, int64_t n) const {
    return gemmOf(dlogits(n, vocabulary), weight, rowsOf(dx, start, n), false, false, false);
  }
  GemmCall weightGradient(int64_t start, int64_t n, bool accumulate) const {
    return gemmOf(dlogits(n, vocabulary), rowsOf(x, start, n), dweight, true, false, accumulate);
  }
  GemmCall weightGradientBlock(int64_t start, int64_t n, int64_t words) const {
    Tensor block = asMatrix({{}, weightBlock()}, DType::F32, words, width, width);
    return gemmOf(dlogits(n, words), rowsOf(x, start, n), block, true, false, true);
  }

private:
  /// Nothing while the call is only measured.
  std::byte *scratchAt(int64_t bytes) const { return call.scratch ? call.scratch + bytes : nullptr; }
  static int64_t alignUp(int64_t bytes) { return (bytes + 63) / 64 * 64; }

  GemmCall gemmOf(Tensor a, Tensor b, Tensor c, bool transposeA, bool transposeB, bool accumulate) const {
    return {a, b, c, transposeA, transposeB, accumulate, call.threads, scratchAt(sharedBytes_), gemmBytes_};
  }

  int64_t largestGemmBytes(bool gradients) const {
    int64_t most = 0;
    auto consider = [&](const GemmCall &gemm) {
      int64_t bytes = alignUp(gemmScratchBytes(gemm));
      most = bytes > most ? bytes : most;
    };
    // The sizes there are: whole tiles and the last one, whole blocks and the last one.
    for (int64_t n : {tileRows(0), rows % tile}) {
      if (n == 0)
        continue;
      consider(product(0, n, 0, vocabulary));
      if (!gradients)
        continue;
      consider(inputGradient(0, n));
      if (makesWeightGradientInBlocks()) {
        for (int64_t words : {blockColumns_, vocabulary % blockColumns_}) {
          if (words == 0)
            continue;
          consider(product(0, n, 0, words));
          consider(weightGradientBlock(0, n, words));
        }
      } else if (hasWeightGradient_) {
        consider(weightGradient(0, n, false));
        consider(weightGradient(0, n, true));
      }
    }
    return most;
  }

  bool hasWeightGradient_ = false;
  int64_t blockColumns_, sharedBytes_, gemmBytes_ = 0;
};

} // namespace

static bool anyTrained(const int32_t *labels, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (labels[i] >= 0)
      return true;
  return false;
}

/// The largest of a row of logits and the sum of exp(logit - largest).
static double sumOfExponentials(const float *logits, int64_t n, float &largestLogit) {
  largestLogit = largest(logits, n, logits[0]);
  double total = 0;
  forBlocks(n, [&](int64_t col, int64_t count) {
#pragma clang fp reassociate(on)
    float part = 0;
    for (int64_t i = 0; i < count; ++i)
      part += fastExp(logits[col + i] - largestLogit);
    total += part;
  });
  return total;
}

/// Turns a row of logits, of the words from `firstWord`, into dlogits, in place; as bf16 at the row's beginning if
/// asked.
static void makeDlogits(float *row, int64_t words, int64_t firstWord, int32_t label, RowStatistics statistics,
                        float dloss, bool bf16) {
  forBlocks(words, [&](int64_t col, int64_t n) {
    Buffer buffer;
    const float *in = row + col;
    float *out = bf16 ? buffer.values : row + col;
    if (label < 0) {
      // Not through the statistics: nothing of a row that is not trained may count, not even 0 * infinity.
      for (int64_t i = 0; i < n; ++i)
        out[i] = 0;
    } else {
      for (int64_t i = 0; i < n; ++i)
        out[i] = fastExp(in[i] - statistics.largest) * statistics.scale;
      int64_t at = label - firstWord - col;
      if (at >= 0 && at < n)
        out[at] -= dloss;
    }
    // A bf16 element lies before the float it is made of, so this overwrites only what was read.
    if (bf16)
      narrow(buffer.values, reinterpret_cast<BF16 *>(row) + col, n);
  });
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

static void runLinearCrossEntropy(const Call &call) {
  Head head(call, -1, -1);
  const int32_t *labels = call.args[2].as<const int32_t>();
  float *rowLoss = call.args[4].as<float>();
  double total = 0;
  for (int64_t start = 0; start < head.rows; start += head.tile) {
    int64_t n = head.tileRows(start);
    double losses[kMostTileRows];
    if (anyTrained(labels + start, n)) {
      gemm(head.product(start, n, 0, head.vocabulary));
      call.threads.forEach(n, [&](int64_t i, int) {
        const float *logits = head.logits.as<float>() + i * head.vocabulary;
        int32_t label = labels[start + i];
        assert(label < head.vocabulary && "a label outside the vocabulary");
        losses[i] = 0;
        if (label >= 0) {
          float largestLogit;
          double sum = sumOfExponentials(logits, head.vocabulary, largestLogit);
          losses[i] = (static_cast<double>(largestLogit) - static_cast<double>(logits[label])) + std::log(sum);
        }
      });
    } else {
      for (int64_t i = 0; i < n; ++i)
        losses[i] = 0;
    }
    for (int64_t i = 0; i < n; ++i) {
      total += losses[i];
      if (rowLoss)
        rowLoss[start + i] = static_cast<float>(losses[i]);
    }
  }
  *call.args[3].as<float>() = static_cast<float>(total);
}
static int64_t linearCrossEntropyScratch(const Call &call) { return Head(call, -1, -1).scratchBytes(); }
const KernelImpl kLinearCrossEntropy = {runLinearCrossEntropy, linearCrossEntropyScratch};

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

/// dW in bf16, a block of words at a time (see above); the rows' statistics are known.
static void makeWeightGradientInBlocks(const Head &head, const int32_t *labels, float dloss, bool accumulate) {
  const Call &call = head.call;
  Rows dweight(head.dweight);
  int64_t width = head.width;
  float *block = head.weightBlock();
  for (int64_t first = 0; first < head.vocabulary; first += head.blockColumns()) {
    int64_t words = head.vocabulary - first < head.blockColumns() ? head.vocabulary - first : head.blockColumns();
    forRows(call.threads, words, width, [&](int64_t word, int) {
      if (accumulate)
        dweight.readRow(first + word, block + word * width);
      else
        __builtin_memset(block + word * width, 0, width * sizeof(float));
    });
    for (int64_t start = 0; start < head.rows; start += head.tile) {
      int64_t n = head.tileRows(start);
      if (!anyTrained(labels + start, n))
        continue;
      gemm(head.product(start, n, first, words));
      call.threads.forEach(n, [&](int64_t i, int) {
        makeDlogits(head.logits.as<float>() + i * words, words, first, labels[start + i], head.statistics()[start + i],
                    dloss, true);
      });
      gemm(head.weightGradientBlock(start, n, words));
    }
    forRows(call.threads, words, width,
            [&](int64_t word, int) { dweight.writeRow(first + word, block + word * width); });
  }
}

static void runLinearCrossEntropyGrad(const Call &call) {
  Head head(call, 5, 6);
  const int32_t *labels = call.args[2].as<const int32_t>();
  float dloss = *call.args[3].as<const float>();
  bool bf16 = head.x.shape.dtype == DType::BF16;
  assert((bf16 || !head.makesWeightGradientInBlocks()) && "the gradient of an f32 head is f32");
  // Whether dW holds a value that the next product is added to.
  bool accumulate = head.hasWeightGradient() && call.accumulates(6);
  bool keepsOld = accumulate;
  Rows dx(head.dx);
  double total = 0;
  for (int64_t start = 0; start < head.rows; start += head.tile) {
    int64_t n = head.tileRows(start);
    if (!anyTrained(labels + start, n)) {
      for (int64_t i = 0; i < n; ++i)
        dx.zero(start + i, 0, head.width);
      continue;
    }
    double losses[kMostTileRows];
    gemm(head.product(start, n, 0, head.vocabulary));
    call.threads.forEach(n, [&](int64_t i, int) {
      float *logits = head.logits.as<float>() + i * head.vocabulary;
      int32_t label = labels[start + i];
      assert(label < head.vocabulary && "a label outside the vocabulary");
      RowStatistics statistics = {0, 0};
      losses[i] = 0;
      if (label >= 0) {
        double sum = sumOfExponentials(logits, head.vocabulary, statistics.largest);
        losses[i] = (static_cast<double>(statistics.largest) - static_cast<double>(logits[label])) + std::log(sum);
        statistics.scale = static_cast<float>(static_cast<double>(dloss) / sum);
      }
      head.statistics()[start + i] = statistics;
      makeDlogits(logits, head.vocabulary, 0, label, statistics, dloss, bf16);
    });
    for (int64_t i = 0; i < n; ++i)
      total += losses[i];
    gemm(head.inputGradient(start, n));
    if (head.hasWeightGradient() && !head.makesWeightGradientInBlocks()) {
      gemm(head.weightGradient(start, n, accumulate));
      accumulate = true;
    }
  }
  *call.args[4].as<float>() = static_cast<float>(total);
  if (head.makesWeightGradientInBlocks()) {
    makeWeightGradientInBlocks(head, labels, dloss, keepsOld);
  } else if (head.hasWeightGradient() && !accumulate) {
    Rows dweight(head.dweight);
    forRows(call.threads, head.vocabulary, head.width, [&](int64_t word, int) { dweight.zero(word, 0, head.width); });
  }
}
static int64_t linearCrossEntropyGradScratch(const Call &call) { return Head(call, 5, 6).scratchBytes(); }
const KernelImpl kLinearCrossEntropyGrad = {runLinearCrossEntropyGrad, linearCrossEntropyGradScratch};

} // namespace qrt::cpu::QRT_ISA
