// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data directories put together by hand, right or wrong.
#ifndef TESTS_UNIT_RUNTIME_SUPPORT_SHARDS_H
#define TESTS_UNIT_RUNTIME_SUPPORT_SHARDS_H

#include "runtime/base/File.h"
#include "runtime/base/Sha256.h"
#include "runtime/data/SafetensorsWriter.h"
#include "runtime/data/TokenDataWriter.h"
#include "tests/unit/runtime/support/StatusMatchers.h"

#include <optional>
#include <string>
#include <vector>

namespace qrt::test {

struct ShardContents {
  std::vector<int32_t> ids;
  std::vector<uint8_t> mask;
  std::vector<int64_t> documents;
  std::optional<std::vector<int64_t>> rows;
};

inline void writeShard(const std::string &path, const ShardContents &contents) {
  auto extent = [](const auto &values) { return std::vector<int64_t>{static_cast<int64_t>(values.size())}; };
  std::vector<TensorSpec> specs = {{"doc_offsets", DType::I64, extent(contents.documents)}};
  if (contents.rows)
    specs.push_back({"row_offsets", DType::I64, extent(*contents.rows)});
  specs.push_back({"input_ids", DType::I32, extent(contents.ids)});
  specs.push_back({"loss_mask", DType::U8, extent(contents.mask)});
  auto writer = SafetensorsWriter::create(path, specs, {});
  ASSERT_OK(writer);
  ASSERT_OK(writer->append("doc_offsets", asBytes(std::span<const int64_t>(contents.documents))));
  if (contents.rows)
    ASSERT_OK(writer->append("row_offsets", asBytes(std::span<const int64_t>(*contents.rows))));
  ASSERT_OK(writer->append("input_ids", asBytes(std::span<const int32_t>(contents.ids))));
  ASSERT_OK(writer->append("loss_mask", contents.mask));
  ASSERT_OK(writer->finish());
}

inline std::string hashOf(const std::string &path) {
  auto contents = readFile(path, int64_t{1} << 30);
  return contents.ok() ? *sha256(asBytes(*contents)) : "";
}

/// Documents whose token t of document d is 10 d + t, all tokens but the first trained.
inline StatusOr<Manifest> writeDocuments(const std::string &directory, const std::vector<int64_t> &lengths,
                                         TokenDataWriterOptions options = {}) {
  QRT_ASSIGN_OR_RETURN(TokenDataWriter writer, TokenDataWriter::create(directory, options));
  for (size_t d = 0; d < lengths.size(); ++d) {
    std::vector<int32_t> ids(static_cast<size_t>(lengths[d]));
    std::vector<uint8_t> mask(ids.size(), 1);
    for (size_t t = 0; t < ids.size(); ++t)
      ids[t] = static_cast<int32_t>(10 * d + t);
    if (!mask.empty())
      mask[0] = 0;
    QRT_RETURN_IF_ERROR(writer.addDocument(ids, mask));
  }
  return writer.finish();
}

} // namespace qrt::test

#endif // TESTS_UNIT_RUNTIME_SUPPORT_SHARDS_H
