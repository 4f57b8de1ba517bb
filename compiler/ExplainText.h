// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How explanations spell things.
#ifndef COMPILER_EXPLAINTEXT_H
#define COMPILER_EXPLAINTEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace qcc {

/// "linear" of "qt.linear".
llvm::StringRef withoutDialect(llvm::StringRef op);

/// "2 reshape, silu" of reshape, silu, reshape.
std::string countNames(llvm::ArrayRef<llvm::StringRef> names);

/// Prints words, breaking long lines; those after the first are indented by `indent`.
void printWrapped(llvm::raw_ostream &out, llvm::StringRef text, int column, int indent);

/// "layers 0-2, 4, lm_head": units of scopes, those of a series by their numbers in ranges.
std::string nameUnits(llvm::ArrayRef<llvm::StringRef> units);

/// Calls use(units, layer) for each kind of layer in a map from units to what they are made of, in the order of the
/// first of its kind: the units whose layers are equal to `layer`.
template <typename Layers, typename Use> void forEachKindOfLayer(const Layers &layers, Use use) {
  llvm::DenseSet<llvm::StringRef> seen;
  for (const auto &[first, layer] : layers) {
    if (seen.contains(first))
      continue;
    llvm::SmallVector<llvm::StringRef> alike;
    for (const auto &[unit, other] : layers)
      if (!seen.contains(unit) && other == layer) {
        seen.insert(unit);
        alike.push_back(unit);
      }
    use(alike, layer);
  }
}

/// Three digits that say something: "0.00934", "9.34", "934"; a dash for nothing.
std::string printAmount(double amount);

} // namespace qcc

#endif // COMPILER_EXPLAINTEXT_H
