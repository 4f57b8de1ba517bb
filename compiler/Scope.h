// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `qt.scope`, the part of the model that an op belongs to (a note for readers: no pass decides by it): how it is read
// and handed on.
//
// A scope is a dotted name, from the whole to its parts: NAME ('.' NAME)*, written by the DSL's Scope. A NAME that is a
// decimal number says which one of several alike: "layers.3.mlp" is `mlp` in number 3 of `layers`.
#ifndef COMPILER_SCOPE_H
#define COMPILER_SCOPE_H

#include "dialects/qt/Qt.h"

#include "llvm/ADT/SmallVector.h"

namespace qcc {

/// A scope, taken apart.
struct ScopeParts {
  /// What it is in: "layers.3" of "layers.3.mlp.up_proj", "lm_head" of "lm_head.loss".
  llvm::StringRef unit;
  /// Where in that: "mlp.up_proj", "loss", or nothing.
  llvm::StringRef place;
  /// Of a unit that is one of several: "layers" and 3. Otherwise empty.
  llvm::StringRef series;
  std::optional<unsigned> number;
};

inline ScopeParts splitScope(llvm::StringRef scope) {
  auto [first, rest] = scope.split('.');
  llvm::StringRef second = rest.split('.').first;
  unsigned number;
  if (second.getAsInteger(10, number))
    return {first, rest, {}, std::nullopt};
  size_t length = first.size() + 1 + second.size();
  return {scope.take_front(length), scope.drop_front(length).ltrim('.'), first, number};
}

/// The scope of an op; empty if it has none.
inline llvm::StringRef scopeOf(mlir::Operation *op) {
  auto scope = op->getAttrOfType<mlir::StringAttr>(qt::kScopeAttr);
  return scope ? scope.getValue() : llvm::StringRef();
}

/// How a message says where an op is: " in scope 'layers.0'", empty if it has no scope.
inline std::string inScope(mlir::Operation *op) {
  llvm::StringRef scope = scopeOf(op);
  return scope.empty() ? std::string() : (" in scope '" + scope + "'").str();
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
