// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `qcc build --explain`: layer by layer what the model became, what was missed and why, and what it costs.
#ifndef COMPILER_EXPLAIN_H
#define COMPILER_EXPLAIN_H

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <vector>

namespace qcc {

/// Follows one build: how many ops each layer was written with, and the remarks of the passes from its making on.
class Explanation {
public:
  explicit Explanation(mlir::MLIRContext &context);

  /// To be told of the module before its first pass: counts the ops of each layer, their regions included, as far as it
  /// is as written.
  void begin(mlir::ModuleOp module);

  /// Prints a table of each layer (layers of equal tables share one): its ops and what each was made of; and what was
  /// missed, and why. For a module of the phase `fused` it is the step of the first bucket, with floating-point
  /// operations and bytes of the forward pass, the backward pass and the update, and the sums of all buckets. For one
  /// that got stuck while it was formed it is the model, as far as it came. Other modules have nothing to print.
  void print(mlir::ModuleOp module, llvm::raw_ostream &out) const;

  /// A compound that a pass formed: what of. Names of ops go without their dialect.
  struct Formed {
    std::string scope, compound;
    std::vector<std::string> madeOf; // in program order, an op as often as it was there
    std::vector<std::string> pack;   // parameters
    std::string why;                 // of an op that was added: it was made of nothing
    std::string function;            // as it was called then
  };
  /// A compound that a pass did not form.
  struct Missed {
    std::string scope, compound, reason;
    bool operator==(const Missed &) const = default;
  };

private:
  std::vector<Formed> formed_;
  std::vector<Missed> missed_;
  /// By layer: "layers.3", "lm_head".
  std::map<std::string, int> written_;
  /// Whether the module came with its compounds formed: then nobody saw what became what.
  bool formedBefore_ = false;
};

} // namespace qcc

#endif // COMPILER_EXPLAIN_H
