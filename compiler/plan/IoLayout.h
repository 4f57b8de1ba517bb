// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the batch, its tables, the scalars and the results of an entry lie.
#ifndef COMPILER_PLAN_IOLAYOUT_H
#define COMPILER_PLAN_IOLAYOUT_H

#include "compiler/plan/EntryPlan.h"

namespace qcc {

/// Places the buffers of the space io: scalars first, each at the same offset in every program whether it is there or
/// not (hyper, inverse_tokens, seed, loss, grad_norm), then the bucket's arrays (ids, labels, embedding_order,
/// segments, row_loss). Returns the bytes of the space.
int64_t layoutIo(std::vector<PlannedBuffer> &buffers);

} // namespace qcc

#endif // COMPILER_PLAN_IOLAYOUT_H
