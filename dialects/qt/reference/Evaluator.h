// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference evaluator: what a module of the qt dialect means. It is `ideal`: numbers are real (f64), casts are
// identities, nothing is rounded to an element type (but the frequencies of the rotary embedding are numbers of f32, as
// the model defines them). Every op has one small function (TensorOps.cpp, ModelOps.cpp, CompoundOps.cpp, GradOps.cpp,
// StateOps.cpp) that follows its mathematics (docs/model.md) and no implementation: compounds by recurrence and
// softmax, gradients by the recurrent backward.
//
// Tail tokens, those past the last document, read as zeros and become zeros wherever tokens are mixed, residuals
// included.
#ifndef DIALECTS_QT_REFERENCE_EVALUATOR_H
#define DIALECTS_QT_REFERENCE_EVALUATOR_H

#include "dialects/qt/reference/Dual.h"
#include "dialects/qt/reference/Tensor.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace qt::reference {

/// The value of an SSA value: numbers, integers (ids, labels, counters, seeds) or documents.
template <typename Scalar> using Datum = std::variant<Tensor<Scalar>, IntTensor, Segments>;

struct ValueHash {
  size_t operator()(mlir::Value value) const { return mlir::hash_value(value); }
};
/// Values by SSA value. References to them stay valid while others are added.
template <typename Scalar> using ValueMap = std::unordered_map<mlir::Value, Datum<Scalar>, ValueHash>;

/// Values of parameters and states by symbol name. A pack has no value of its own: it is a view of its members.
template <typename Scalar> using SymbolMap = std::map<std::string, Datum<Scalar>>;

/// What a function is evaluated on: a value for each argument, and one for each parameter and state that it reads.
template <typename Scalar> struct Inputs {
  std::vector<Datum<Scalar>> arguments;
  SymbolMap<Scalar> symbols;
};

/// What it gives.
template <typename Scalar> struct Outputs {
  std::vector<Datum<Scalar>> results;
  /// The symbols of the inputs, those that were updated with their new values.
  SymbolMap<Scalar> symbols;
  /// What `qt.watch` names: values by name, gradients by parameter (that of a pack as its members'), and gradients of
  /// the values by their name.
  std::map<std::string, Tensor<Scalar>> hidden, gradients, hiddenGradients;
};

/// Evaluates the function @name. A dynamic extent takes what the arguments have: T of the segments, R of their trained
/// rows. Fails with a diagnostic at the op that cannot be evaluated: it has no reference, a symbol has no value, a
/// shape contradicts its type, an id is out of range.
template <typename Scalar>
mlir::FailureOr<Outputs<Scalar>> evaluateFunction(mlir::ModuleOp module, llvm::StringRef name,
                                                  const Inputs<Scalar> &inputs);

/// Evaluates one op, attached to a function or not, on the values of its operands, and adds those of its results to
/// `values`. T is that of the documents among `values`. Ops of state are refused: they need a function.
template <typename Scalar> mlir::LogicalResult evaluateOp(mlir::Operation *op, ValueMap<Scalar> &values);

/// Evaluates what `value` depends on, from the given values (arguments of a region or of a function, say) on, and adds
/// all of it to `values`. All ops must be in the block of `value`.
template <typename Scalar> mlir::FailureOr<Datum<Scalar>> evaluateValue(mlir::Value value, ValueMap<Scalar> &values);

/// Evaluates the ops of a block without its terminator, and returns the terminator's operands. `values` holds the
/// block's arguments and what it refers to outside.
template <typename Scalar>
mlir::FailureOr<std::vector<Datum<Scalar>>> evaluateBlock(mlir::Block &block, ValueMap<Scalar> &values);

/// Whether an op of this name can be evaluated.
bool hasReference(mlir::OperationName name);

/// Row t holds the row of token t of (I + strictlower(beta K K^T))^-1 of its chunk of 64 tokens (chunks restart at each
/// document), for each value head: [T,W,64], the residual `inverse` of qt.gated_delta_rule. k is [T,K,dk], beta [T,W].
/// Columns past the token are zero.
template <typename Scalar>
Tensor<Scalar> chunkInverse(const Segments &docs, const Tensor<Scalar> &k, const Tensor<Scalar> &beta);

} // namespace qt::reference

#endif // DIALECTS_QT_REFERENCE_EVALUATOR_H
