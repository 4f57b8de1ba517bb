// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handing on `qt.scope`, the part of the model that an op belongs to (a note for readers: no pass decides by it).
#ifndef COMPILER_SCOPE_H
#define COMPILER_SCOPE_H

#include "dialects/qt/Qt.h"

#include "llvm/ADT/SmallVector.h"

namespace qcc {

/// The scope of an op; empty if it has none.
inline llvm::StringRef scopeOf(mlir::Operation *op) {
  auto scope = op->getAttrOfType<mlir::StringAttr>(qt::kScopeAttr);
  return scope ? scope.getValue() : llvm::StringRef();
}

/// The longest dotted prefix that the names share: "a.b" of "a.b.c" and "a.b.d.e". A single name is its own prefix.
inline llvm::StringRef commonDottedPrefix(llvm::ArrayRef<llvm::StringRef> names) {
  llvm::StringRef prefix = names.empty() ? llvm::StringRef() : names.front();
  for (llvm::StringRef name : names)
    while (!prefix.empty() && name != prefix && !(name.starts_with(prefix) && name[prefix.size()] == '.'))
      prefix = prefix.contains('.') ? prefix.rsplit('.').first : llvm::StringRef();
  return prefix;
}

/// The scope of an op made of several: what their scopes have in common. Ops without a scope do not count.
inline llvm::StringRef mergeScopes(llvm::ArrayRef<mlir::Operation *> ops) {
  llvm::SmallVector<llvm::StringRef> scopes;
  for (mlir::Operation *op : ops)
    if (llvm::StringRef scope = scopeOf(op); !scope.empty())
      scopes.push_back(scope);
  return commonDottedPrefix(scopes);
}

/// Gives an op the scope of another, if that has one.
inline void copyScope(mlir::Operation *from, mlir::Operation *to) {
  if (mlir::Attribute scope = from->getAttr(qt::kScopeAttr))
    to->setAttr(qt::kScopeAttr, scope);
}

/// Gives an op a scope, unless it is empty.
inline void setScope(mlir::Operation *op, llvm::StringRef scope) {
  if (!scope.empty())
    op->setAttr(qt::kScopeAttr, mlir::StringAttr::get(op->getContext(), scope));
}

} // namespace qcc

#endif // COMPILER_SCOPE_H
