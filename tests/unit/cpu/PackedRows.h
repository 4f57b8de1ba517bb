// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packed rows for the tests of kernels that mix tokens: documents of awkward lengths, tables longer than needed, and
// rows that belong to no document.
#ifndef TESTS_UNIT_CPU_PACKEDROWS_H
#define TESTS_UNIT_CPU_PACKEDROWS_H

#include "tests/unit/cpu/KernelHarness.h"

#include <algorithm>

namespace qrt::cpu::test {

struct PackedRow {
  /// `tail` rows past the last document; the table has room for two more documents, and for longer ones.
  explicit PackedRow(std::vector<int64_t> documents, int64_t tail = 0) : lengths(std::move(documents)) {
    for (int64_t length : lengths) {
      begins.push_back(used);
      used += length;
      bucket.longest = std::max(bucket.longest, length + 3);
    }
    bucket.tokens = used + tail;
    bucket.documents = static_cast<int64_t>(lengths.size()) + 2;
  }

  HostTensor table() const { return segmentTable(bucket, lengths); }
  int64_t tokens() const { return bucket.tokens; }

  std::vector<int64_t> lengths, begins;
  BucketShape bucket;
  /// Rows in documents.
  int64_t used = 0;
};

/// Boundaries of chunks and tiles, single tokens, an empty document between others and one at the end, and a tail.
inline PackedRow awkwardRow() { return PackedRow({1, 2, 3, 63, 64, 65, 0, 127, 128, 129, 0}, 13); }
/// A few boundaries only, for wide heads.
inline PackedRow shortRow() { return PackedRow({65, 0, 1, 130}, 5); }

/// An input [T, ...]: normally distributed in the rows of documents, NaN in the tail.
inline HostTensor packedInput(const PackedRow &row, DType dtype, std::vector<int64_t> inner, std::mt19937 &random,
                              double scale = 1, double mean = 0, int64_t gap = 7) {
  std::vector<int64_t> dims = {row.tokens()};
  dims.insert(dims.end(), inner.begin(), inner.end());
  HostTensor tensor(dtype, dims, gap);
  std::normal_distribution<double> normal(mean, scale);
  int64_t width = row.tokens() > 0 ? tensor.elements() / row.tokens() : 0;
  for (int64_t i = 0; i < row.used * width; ++i)
    tensor.set(i, normal(random));
  return tensor;
}

/// An output [T, ...], poisoned.
inline HostTensor packedOutput(const PackedRow &row, DType dtype, std::vector<int64_t> inner, int64_t gap = 5) {
  std::vector<int64_t> dims = {row.tokens()};
  dims.insert(dims.end(), inner.begin(), inner.end());
  return HostTensor(dtype, dims, gap);
}

/// Copies the rows [begin, begin + length) of `from` to the first of `to`.
inline void copyRows(const HostTensor &from, int64_t begin, int64_t length, HostTensor &to) {
  int64_t width = from.shape().dims[0] > 0 ? from.elements() / from.shape().dims[0] : 0;
  for (int64_t i = 0; i < length * width; ++i)
    to.set(i, from.get(begin * width + i));
}

/// Expects the same values in the rows of `part`, [0, length), as in `whole` from `begin`.
inline void expectSameRows(const HostTensor &whole, int64_t begin, const HostTensor &part, int64_t length,
                           const char *what) {
  int64_t width = whole.elements() / whole.shape().dims[0], different = 0;
  for (int64_t i = 0; i < length * width; ++i)
    different += whole.get(begin * width + i) != part.get(i);
  EXPECT_EQ(different, 0) << what << ": the document from row " << begin << " differs from the same document alone";
}

using NamedTensors = std::vector<std::pair<const char *, HostTensor *>>;

/// Expects that every document gives the same rows alone as beside the others. `packed` is a case of several, make(row)
/// another of the same parameters; run(case) runs one; inputs(case) and outputs(case) list its tensors [T, ...].
template <typename Case, typename Make, typename Run, typename Inputs, typename Outputs>
void expectDocumentsDoNotMeet(Case &packed, Make make, Run run, Inputs inputs, Outputs outputs) {
  run(packed);
  for (size_t d = 0; d < packed.row.lengths.size(); ++d) {
    int64_t length = packed.row.lengths[d], begin = packed.row.begins[d];
    if (length == 0)
      continue;
    Case alone = make(PackedRow({length}, 1));
    std::vector<HostTensor *> from = inputs(packed), to = inputs(alone);
    for (size_t i = 0; i < from.size(); ++i)
      copyRows(*from[i], begin, length, *to[i]);
    run(alone);
    NamedTensors whole = outputs(packed), part = outputs(alone);
    for (size_t i = 0; i < whole.size(); ++i)
      expectSameRows(*whole[i].second, begin, *part[i].second, length, whole[i].first);
  }
}

/// Expects zeros in the rows that belong to no document.
inline void expectZeroTail(const HostTensor &tensor, const PackedRow &row, const char *what) {
  int64_t width = tensor.elements() / row.tokens(), other = 0;
  for (int64_t i = row.used * width; i < tensor.elements(); ++i)
    other += tensor.get(i) != 0;
  EXPECT_EQ(other, 0) << what << ": elements of the tail that are not zero";
}

/// EXPECT_CLOSE with a bound of one's own and the case in the message.
inline void expectWithin(const HostTensor &got, const std::vector<double> &expected, double bound, const char *what) {
  EXPECT_LT(relativeError(got, expected), bound) << what;
}

} // namespace qrt::cpu::test

#endif // TESTS_UNIT_CPU_PACKEDROWS_H
