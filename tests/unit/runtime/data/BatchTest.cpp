// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Batch.h"

#include "runtime/data/Safetensors.h"
#include "tests/unit/runtime/support/StatusMatchers.h"

using namespace qrt;

namespace {

/// Documents of 3, 1 and 2 tokens.
const TokenRow row = {{7, 3, 7, 3, 9, 7}, {0, 1, 0, 0, 0, 1}, {0, 3, 4, 6}};

} // namespace

TEST(Batch, LaysOutARow) {
  EXPECT_EQ(rowShapeOf(row), (BucketShape{6, 3, 3, 2}));
  HostBatch batch;
  ASSERT_OK(fillBatch(row, {8, 4, 4, 4}, batch));
  EXPECT_EQ(batch.ids, (std::vector<int32_t>{7, 3, 7, 3, 9, 7, 0, 0}));
  // Position 2 would predict the first token of the next document; it never does.
  EXPECT_EQ(batch.labels, (std::vector<int32_t>{3, -100, -100, -100, 7, -100, -100, -100}));
  EXPECT_EQ(batch.documentOffsets, (std::vector<int32_t>{0, 3, 4, 6}));
  EXPECT_EQ(batch.trainedRows, (std::vector<int32_t>{0, 4}));
  EXPECT_EQ(batch.embeddingOrder, (std::vector<int32_t>{1, 3, 0, 2, 5, 4, -1, -1}));
  EXPECT_EQ(batch.tokens(), 6);
  EXPECT_EQ(batch.documents(), 3);
  EXPECT_EQ(batch.trained(), 2);
}

// Even if a mask from elsewhere says that a document's first token is a target: no label crosses a boundary
// (docs/failures.md, row 19).
TEST(Batch, NoLabelCrossesADocumentsEnd) {
  TokenRow wrong = row;
  wrong.lossMask.assign(6, 1);
  HostBatch batch;
  EXPECT_EQ(rowShapeOf(wrong), (BucketShape{6, 3, 3, 3}));
  ASSERT_OK(fillBatch(wrong, BucketShape::anyOf(6), batch));
  EXPECT_EQ(batch.labels, (std::vector<int32_t>{3, 7, -100, -100, 7, -100}));
  EXPECT_EQ(batch.trainedRows, (std::vector<int32_t>{0, 1, 4}));
}

// Nothing of the last row stays behind in a batch that is used again.
TEST(Batch, IsFilledAnew) {
  HostBatch used;
  ASSERT_OK(fillBatch(row, BucketShape::anyOf(8), used));
  TokenRow small = {{1}, {0}, {0, 1}};
  HostBatch fresh;
  ASSERT_OK(fillBatch(small, BucketShape::anyOf(4), fresh));
  ASSERT_OK(fillBatch(small, BucketShape::anyOf(4), used));
  EXPECT_EQ(used.ids, fresh.ids);
  EXPECT_EQ(used.labels, fresh.labels);
  EXPECT_EQ(used.documentOffsets, fresh.documentOffsets);
  EXPECT_EQ(used.trainedRows, fresh.trainedRows);
  EXPECT_EQ(used.embeddingOrder, fresh.embeddingOrder);
  EXPECT_TRUE(used.bucket == fresh.bucket);
}

// docs/failures.md, row 33: one more than the bucket holds is an error that names it.
TEST(Batch, NamesTheLimitThatIsExceeded) {
  HostBatch batch;
  auto full = StatusCode::ResourceExhausted;
  ASSERT_OK(fillBatch(row, {6, 3, 3, 2}, batch));
  EXPECT_ERROR(fillBatch(row, {5, 3, 3, 2}, batch), full, "a row has 6 tokens, the bucket 5x3x3x2 takes 5");
  EXPECT_ERROR(fillBatch(row, {6, 2, 3, 2}, batch), full, "a row has 3 documents, the bucket 6x2x3x2 takes 2");
  EXPECT_ERROR(fillBatch(row, {6, 3, 2, 2}, batch), full, "a row has 3 tokens in its longest document, the bucket");
  EXPECT_ERROR(fillBatch(row, {6, 3, 3, 1}, batch), full, "a row has 2 trained tokens, the bucket 6x3x3x1 takes 1");
}

// The golden batches have shifted labels, made elsewhere: the mask they imply must give them back.
TEST(Batch, GoldenLabels) {
  for (const char *name : {"tiny_tied", "tiny_untied", "tiny_long", "wide_r1", "wide_r3"}) {
    auto file = SafetensorsFile::open(fmt::format("{}/tests/golden/{}/batch.safetensors", QCC_SOURCE_DIR, name));
    ASSERT_OK(file);
    TensorView ids = *file->find("input_ids");
    TensorView labels = *file->find("labels");
    TensorView offsets = *file->find("cu_seqlens");
    TokenRow golden;
    for (int64_t d = 0; d < offsets.elements(); ++d)
      if (d == 0 || offsets.at<int32_t>(d) != golden.documentOffsets.back())
        golden.documentOffsets.push_back(offsets.at<int32_t>(d));
    for (int64_t t = 0; t < ids.elements(); ++t) {
      golden.ids.push_back(ids.at<int32_t>(t));
      golden.lossMask.push_back(t > 0 && labels.at<int32_t>(t - 1) != -100);
    }
    HostBatch batch;
    ASSERT_OK(fillBatch(golden, BucketShape::anyOf(ids.elements() + 5), batch));
    for (int64_t t = 0; t < ids.elements(); ++t)
      EXPECT_EQ(batch.labels[t], labels.at<int32_t>(t)) << name << " " << t;
  }
}
