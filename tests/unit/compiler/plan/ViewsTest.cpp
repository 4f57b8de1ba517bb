// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/plan/Views.h"

#include "compiler/plan/Footprint.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace qcc;
using llvm::SmallVector;

namespace {

BufferView view(int64_t offset, SmallVector<int64_t, 4> shape, SmallVector<int64_t, 4> strides) {
  return {0, offset, std::move(shape), std::move(strides)};
}

/// The elements of a view in row-major order, one by one.
std::vector<int64_t> elementsOf(const BufferView &view) {
  std::vector<int64_t> elements{view.offset};
  for (auto [size, stride] : llvm::zip_equal(view.shape, view.strides)) {
    std::vector<int64_t> next;
    for (int64_t element : elements)
      for (int64_t i = 0; i < size; ++i)
        next.push_back(element + i * stride);
    elements = std::move(next);
  }
  return elements;
}

TEST(Views, AWholeBufferIsRowMajor) {
  EXPECT_EQ(wholeBuffer(0, {2, 3, 4}), view(0, {2, 3, 4}, {12, 4, 1}));
  EXPECT_EQ(wholeBuffer(0, {}), view(0, {}, {}));
}

TEST(Views, APartKeepsTheStrides) {
  // Columns 3 to 4 of [5, 8].
  EXPECT_EQ(partOfView(wholeBuffer(0, {5, 8}), 1, 3, 2), view(3, {5, 2}, {8, 1}));
  // Rows 2 to 4 of it.
  EXPECT_EQ(partOfView(wholeBuffer(0, {5, 8}), 0, 2, 3), view(16, {3, 8}, {8, 1}));
}

TEST(Views, RowsOfColumnsReshapeIntoHeads) {
  // Columns 6 to 17 of [4, 20] as 3 heads of 4, and back.
  BufferView columns = partOfView(wholeBuffer(0, {4, 20}), 1, 6, 12);
  std::optional<BufferView> heads = reshapeView(columns, {4, 3, 4});
  ASSERT_TRUE(heads);
  EXPECT_EQ(*heads, view(6, {4, 3, 4}, {20, 4, 1}));
  EXPECT_EQ(reshapeView(*heads, {4, 12}), columns);
}

TEST(Views, WhatStridesCannotSayIsNoView) {
  // Columns of a wider matrix cannot be one row: there are gaps.
  EXPECT_FALSE(reshapeView(partOfView(wholeBuffer(0, {4, 20}), 1, 6, 12), {48}));
  // [4, 3 of 5] as [2, 6]: elements of two rows would stand in one.
  EXPECT_FALSE(reshapeView(partOfView(wholeBuffer(0, {4, 5}), 1, 0, 3), {2, 6}));
  // [4, 3 of 5] as [2, 2, 3]: rows are split, nothing else.
  EXPECT_TRUE(reshapeView(partOfView(wholeBuffer(0, {4, 5}), 1, 0, 3), {2, 2, 3}));
}

TEST(Views, DimensionsOfOneMeanNothing) {
  BufferView part = partOfView(wholeBuffer(0, {4, 20}), 0, 2, 1);
  EXPECT_EQ(part, view(40, {1, 20}, {20, 1}));
  EXPECT_EQ(reshapeView(part, {20}), view(40, {20}, {1}));
  EXPECT_EQ(reshapeView(part, {20, 1, 1}), view(40, {20, 1, 1}, {1, 1, 1}));
  EXPECT_EQ(reshapeView(wholeBuffer(0, {}), {1, 1}), view(0, {1, 1}, {1, 1}));
}

TEST(Views, RandomReshapesKeepTheOrderOfElements) {
  std::mt19937 random(3);
  int views = 0, copies = 0;
  for (int round = 0; round < 2000; ++round) {
    SmallVector<int64_t> shape;
    for (int i = 0; i < 3; ++i)
      shape.push_back(1 + random() % 6);
    BufferView source = wholeBuffer(0, shape);
    for (int cut = 0; cut < 2; ++cut) {
      int64_t dim = random() % 3, begin = random() % source.shape[dim];
      source = partOfView(source, dim, begin, 1 + random() % (source.shape[dim] - begin));
    }
    // A random factorisation of the number of elements.
    int64_t left = source.shape[0] * source.shape[1] * source.shape[2];
    SmallVector<int64_t> target;
    while (left > 1) {
      int64_t factor = 1 + random() % left;
      while (left % factor != 0)
        --factor;
      target.push_back(factor);
      left /= factor;
    }
    if (std::optional<BufferView> reshaped = reshapeView(source, target)) {
      EXPECT_EQ(elementsOf(*reshaped), elementsOf(source));
      ++views;
    } else {
      ++copies;
    }
  }
  EXPECT_GT(views, 500);
  EXPECT_GT(copies, 50);
}

TEST(IntervalSet, MergesWhatTouches) {
  IntervalSet set;
  set.add(10, 20);
  set.add(30, 40);
  EXPECT_TRUE(set.contains(12, 20));
  EXPECT_FALSE(set.contains(12, 21));
  EXPECT_TRUE(set.intersects(19, 25));
  EXPECT_FALSE(set.intersects(20, 30));
  set.add(20, 30);
  EXPECT_EQ(set.intervals().size(), 1u);
  EXPECT_TRUE(set.contains(10, 40));
}

TEST(Footprint, ColumnsOfHeads) {
  // The gate halves of [T, heads, 2 * width] in a matrix of 40 columns: 2 runs of 4 in each of 6 rows.
  BufferView gate = view(14, {6, 2, 4}, {40, 8, 1});
  EXPECT_EQ(commonPitch({gate, wholeBuffer(0, {6, 40})}, 240), 40);
  std::optional<Footprint> footprint = footprintOf(gate, 40);
  ASSERT_TRUE(footprint);
  EXPECT_EQ(footprint->rowBegin, 0);
  EXPECT_EQ(footprint->rowEnd, 6);
  ASSERT_EQ(footprint->columns.intervals().size(), 2u);
  EXPECT_EQ(footprint->columns.intervals()[0], std::pair(int64_t{14}, int64_t{18}));
  EXPECT_EQ(footprint->columns.intervals()[1], std::pair(int64_t{22}, int64_t{26}));
  // The query halves lie in between.
  EXPECT_FALSE(footprint->intersects(*footprintOf(view(10, {6, 2, 4}, {40, 8, 1}), 40)));
  EXPECT_TRUE(footprint->intersects(*footprintOf(view(17, {6, 1}, {40, 1}), 40)));
}

TEST(Footprint, AnswersAgreeWithElements) {
  std::mt19937 random(5);
  int overlapping = 0;
  for (int round = 0; round < 1000; ++round) {
    // Views of one buffer of 6 rows: some columns of some rows, or a flat run.
    const int64_t rows = 6, pitch = 24, elements = rows * pitch;
    SmallVector<BufferView> views;
    for (int i = 0; i < 4; ++i) {
      if (random() % 4 == 0) {
        int64_t begin = random() % elements;
        views.push_back(view(begin, {static_cast<int64_t>(1 + random() % (elements - begin))}, {1}));
        continue;
      }
      BufferView part = partOfView(wholeBuffer(0, {rows, 4, 6}), 0, 0, 1 + random() % rows);
      int64_t dim = 1 + random() % 2, begin = random() % part.shape[dim];
      views.push_back(partOfView(part, dim, begin, 1 + random() % (part.shape[dim] - begin)));
    }
    int64_t common = commonPitch(views, elements);
    SmallVector<Footprint> footprints;
    for (const BufferView &v : views) {
      std::optional<Footprint> footprint = footprintOf(v, common);
      ASSERT_TRUE(footprint);
      footprints.push_back(*footprint);
    }
    ElementSet set(footprints);
    std::set<int64_t> expected;
    for (size_t i = 0; i < views.size(); ++i) {
      std::vector<int64_t> own = elementsOf(views[i]);
      bool intersects = llvm::any_of(own, [&](int64_t e) { return expected.contains(e); });
      bool contains = llvm::all_of(own, [&](int64_t e) { return expected.contains(e); });
      EXPECT_EQ(set.intersects(footprints[i]), intersects);
      EXPECT_EQ(set.contains(footprints[i]), contains);
      overlapping += intersects;
      for (size_t j = 0; j < i; ++j) {
        std::vector<int64_t> other = elementsOf(views[j]);
        bool shared = llvm::any_of(own, [&](int64_t e) { return llvm::is_contained(other, e); });
        EXPECT_EQ(footprints[i].intersects(footprints[j]), shared);
      }
      set.add(footprints[i]);
      expected.insert(own.begin(), own.end());
    }
  }
  EXPECT_GT(overlapping, 500);
}

} // namespace
