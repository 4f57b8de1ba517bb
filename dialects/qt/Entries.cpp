// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/qt/Entries.h"

using namespace mlir;

namespace qt {

std::optional<EntryKind> entryKind(FunctionOpInterface function) {
  if (auto entry = function->getAttrOfType<EntryKindAttr>(kEntryAttr))
    return entry.getValue();
  return std::nullopt;
}

BlockArgument findArgument(FunctionOpInterface function, ArgumentRole role) {
  if (function.isExternal())
    return {};
  for (BlockArgument argument : function.getArguments())
    if (auto attr = function.getArgAttrOfType<ArgumentRoleAttr>(argument.getArgNumber(), kArgumentAttr))
      if (attr.getValue() == role)
        return argument;
  return {};
}

std::optional<qrt::BucketShape> bucketOf(FunctionOpInterface function) {
  BlockArgument docs = findArgument(function, ArgumentRole::Segments);
  if (!docs)
    return std::nullopt;
  auto type = cast<SegmentsType>(docs.getType());
  return qrt::BucketShape{type.getTokens(), type.getDocuments(), type.getLongest(), type.getTrained()};
}

bool isGeneric(FunctionOpInterface function) {
  return llvm::any_of(function.getArgumentTypes(), [](Type type) {
    auto segments = dyn_cast<SegmentsType>(type);
    return segments && !segments.isStatic();
  });
}

BlockArgument appendArgument(FunctionOpInterface function, Type type, ArgumentRole role) {
  unsigned index = function.getNumArguments();
  MLIRContext *context = function.getContext();
  NamedAttribute attr(StringAttr::get(context, kArgumentAttr), ArgumentRoleAttr::get(context, role));
  bool inserted =
      succeeded(function.insertArgument(index, type, DictionaryAttr::get(context, attr), function.getLoc()));
  assert(inserted && "a function takes further arguments");
  (void)inserted;
  return function.getArgument(index);
}

} // namespace qt
