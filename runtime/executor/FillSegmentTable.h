// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_EXECUTOR_FILLSEGMENTTABLE_H
#define RUNTIME_EXECUTOR_FILLSEGMENTTABLE_H

#include "runtime/base/SegmentTable.h"
#include "runtime/base/Status.h"

#include <span>

namespace qrt {

/// Fills the table of a bucket (runtime/base/SegmentTable.h), `table` of layout.size() elements. `documentOffsets`
/// [documents + 1] rise from 0, equal ones are an empty document; `trainedRows` rise strictly and lie in documents.
/// Tiles with the most keys come first, equal ones in order of tokens. InvalidData for offsets or rows that do not,
/// ResourceExhausted for more than the bucket holds. Allocates nothing.
Status fillSegmentTable(const SegmentLayout &layout, std::span<const int32_t> documentOffsets,
                        std::span<const int32_t> trainedRows, std::span<int32_t> table);

} // namespace qrt

#endif // RUNTIME_EXECUTOR_FILLSEGMENTTABLE_H
