// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/plan/IoLayout.h"

#include "compiler/plan/ArenaPacker.h"

namespace qcc {

int64_t layoutIo(std::vector<PlannedBuffer> &buffers) {
  using qt::ArgumentRole, qt::ResultRole;
  int64_t end = 0;
  auto place = [&](std::optional<ArgumentRole> argument, std::optional<ResultRole> result, bool reserved) {
    int64_t bytes = reserved ? kArenaAlignment : 0;
    for (PlannedBuffer &buffer : buffers)
      if (buffer.space == step::Space::Io && buffer.argument == argument && buffer.result == result) {
        buffer.offset = end;
        bytes = alignToArena(step::bytesOf(buffer.type));
      }
    end += bytes;
  };
  place(ArgumentRole::Hyper, std::nullopt, true);
  place(ArgumentRole::InverseTokens, std::nullopt, true);
  place(ArgumentRole::Seed, std::nullopt, true);
  place(std::nullopt, ResultRole::Loss, true);
  place(std::nullopt, ResultRole::GradNorm, true);
  place(ArgumentRole::Ids, std::nullopt, false);
  place(ArgumentRole::Labels, std::nullopt, false);
  place(ArgumentRole::EmbeddingOrder, std::nullopt, false);
  place(ArgumentRole::Segments, std::nullopt, false);
  place(std::nullopt, ResultRole::RowLoss, false);
  return end;
}

} // namespace qcc
