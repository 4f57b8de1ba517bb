// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/Overlap.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

namespace qrt {
namespace {

Slice makeSlice(int64_t offset, std::vector<int64_t> dims, std::vector<int64_t> strides, DType dtype = DType::F32) {
  Slice slice;
  slice.space = Space::Transient;
  slice.offset = offset;
  slice.shape.dtype = dtype;
  slice.shape.rank = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), slice.shape.dims);
  std::copy(strides.begin(), strides.end(), slice.shape.strides);
  return slice;
}

/// The bytes of a slice, one by one.
std::set<int64_t> bytesOf(const Slice &slice) {
  std::set<int64_t> bytes;
  int64_t size = byteSize(slice.shape.dtype);
  for (int64_t i = 0; i < slice.shape.elements(); ++i) {
    int64_t rest = i, element = 0;
    for (int axis = slice.shape.rank - 1; axis >= 0; --axis) {
      element += rest % slice.shape.dims[axis] * slice.shape.strides[axis];
      rest /= slice.shape.dims[axis];
    }
    for (int64_t b = 0; b < size; ++b)
      bytes.insert(slice.offset + element * size + b);
  }
  return bytes;
}

bool trulyOverlap(const Slice &a, const Slice &b) {
  std::set<int64_t> bytes = bytesOf(a);
  for (int64_t byte : bytesOf(b))
    if (bytes.contains(byte))
      return true;
  return false;
}

TEST(Overlap, ColumnsOfAMatrixAreApart) {
  Slice left = makeSlice(0, {5, 3}, {8, 1}), right = makeSlice(12, {5, 5}, {8, 1}), wide = makeSlice(8, {5, 2}, {8, 1});
  EXPECT_FALSE(mayOverlap(left, right));
  EXPECT_FALSE(mayOverlap(right, left));
  EXPECT_TRUE(mayOverlap(left, wide));
  EXPECT_TRUE(mayOverlap(left, left));
}

TEST(Overlap, HeadsOfColumnsAreApart) {
  // Rows of 2 heads x (query 4 | gate 4) and then keys of 6: the packed input projection of attention.
  Slice q = makeSlice(0, {7, 2, 4}, {22, 8, 1}), gate = makeSlice(16, {7, 2, 4}, {22, 8, 1}),
        k = makeSlice(64, {7, 6}, {22, 1});
  EXPECT_FALSE(mayOverlap(q, gate));
  EXPECT_FALSE(mayOverlap(q, k));
  EXPECT_FALSE(mayOverlap(k, gate));
  EXPECT_TRUE(mayOverlap(gate, makeSlice(60, {7, 6}, {22, 1})));
}

TEST(Overlap, OtherSpacesAreApart) {
  Slice a = makeSlice(0, {4}, {1}), b = a;
  b.space = Space::Io;
  EXPECT_FALSE(mayOverlap(a, b));
}

// Never "apart" where bytes are shared; and exact for views of one matrix, which is what programs hold.
TEST(Overlap, AgreesWithCountingBytes) {
  std::mt19937 random(1);
  auto pick = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  int overlapping = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    auto any = [&] {
      std::vector<int64_t> dims, strides;
      int64_t extent = 1;
      for (int64_t rank = pick(0, 4); rank > 0; --rank) {
        int64_t dim = pick(1, 4), stride = extent + (dims.empty() ? 0 : pick(0, 2));
        dims.insert(dims.begin(), dim);
        strides.insert(strides.begin(), stride);
        extent += (dim - 1) * stride;
      }
      return makeSlice(pick(0, 20) * 2, dims, strides, pick(0, 1) ? DType::BF16 : DType::U8);
    };
    Slice a = any(), b = any();
    EXPECT_TRUE(isInjective(a.shape));
    EXPECT_EQ(static_cast<int64_t>(bytesOf(a).size()), a.shape.elements() * byteSize(a.shape.dtype));
    if (trulyOverlap(a, b)) {
      ++overlapping;
      EXPECT_TRUE(mayOverlap(a, b)) << trial;
      EXPECT_TRUE(mayOverlap(b, a)) << trial;
    }
  }
  EXPECT_GT(overlapping, 1000);
  for (int trial = 0; trial < 20000; ++trial) {
    // Columns of one matrix of 6 columns, some by heads of 2, for one range of rows or a part of it.
    int64_t row = pick(0, 3);
    auto rectangle = [&] {
      int64_t rows = pick(1, 4);
      if (pick(0, 1)) {
        int64_t half = pick(0, 1);
        return makeSlice((row * 6 + half) * 4, {rows, 3, 1}, {6, 2, 1});
      }
      int64_t column = pick(0, 5), columns = pick(1, 6 - column);
      return makeSlice((row * 6 + column) * 4, {rows, columns}, {6, 1});
    };
    Slice a = rectangle(), b = rectangle();
    EXPECT_EQ(mayOverlap(a, b), trulyOverlap(a, b)) << trial;
  }
}

TEST(Overlap, RepeatedElementsAreSeen) {
  EXPECT_FALSE(isInjective(makeSlice(0, {3, 4}, {0, 1}).shape));
  EXPECT_FALSE(isInjective(makeSlice(0, {3, 4}, {3, 1}).shape));
  EXPECT_TRUE(isInjective(makeSlice(0, {1, 4}, {0, 1}).shape));
  EXPECT_TRUE(isInjective(makeSlice(0, {3, 4, 2}, {2, 6, 1}).shape));
}

} // namespace
} // namespace qrt
