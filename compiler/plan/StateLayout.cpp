// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/plan/StateLayout.h"

#include "compiler/plan/ArenaPacker.h"

using namespace mlir;

namespace qcc {

static_assert(kArenaAlignment == step::kBufferAlignment);

StateLayout layoutState(ModuleOp module) {
  StateLayout layout;
  for (auto pack : module.getOps<qt::ParameterPackOp>()) {
    auto type = cast<RankedTensorType>(pack.getType());
    int64_t rowElements = type.getNumElements() / type.getDimSize(0), row = 0;
    for (Attribute member : pack.getMembers()) {
      StringAttr name = cast<FlatSymbolRefAttr>(member).getAttr();
      layout.members[name] = {pack.getSymNameAttr(), row * rowElements};
      row += cast<RankedTensorType>(module.lookupSymbol<qt::ParameterOp>(name).getType()).getDimSize(0);
    }
  }
  auto place = [&](StringAttr name, Type type, step::Space space) {
    int64_t &end = space == step::Space::State ? layout.stateBytes : layout.gradientBytes;
    MemRefType memory = step::memoryType(type);
    layout.places[name] = {space, end, memory};
    end += alignToArena(step::bytesOf(memory));
  };
  for (Operation &op : module.getOps()) {
    if (auto parameter = dyn_cast<qt::ParameterOp>(op)) {
      if (!layout.members.contains(parameter.getSymNameAttr()))
        place(parameter.getSymNameAttr(), parameter.getType(), step::Space::State);
    } else if (auto pack = dyn_cast<qt::ParameterPackOp>(op)) {
      place(pack.getSymNameAttr(), pack.getType(), step::Space::State);
    }
  }
  for (qt::StateKind kind : {qt::StateKind::Master, qt::StateKind::ExpAvg, qt::StateKind::ExpAvgSq,
                             qt::StateKind::Counters, qt::StateKind::Gradient})
    for (auto state : module.getOps<qt::StateOp>())
      if (state.getKind() == kind)
        place(state.getSymNameAttr(), state.getType(),
              kind == qt::StateKind::Gradient ? step::Space::Gradients : step::Space::State);
  return layout;
}

} // namespace qcc
