// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How an op gets its reference: a function template
//
//   template <typename Scalar> static RESULT evaluate(SomeOp op, Frame<Scalar> &frame)
//
// in the file of the op's family. RESULT is Tensor<Scalar>, the op's only result; or void, the function calls frame.set
// for each result; or LogicalResult, the same where the values of operands can be wrong (emit an error at the op). No
// list names the op a second time: the file registers all ops of its family that have such a function.
//
// Operands are there and of the right kind when it is called; the shapes of results are checked against their types
// afterwards.
#ifndef DIALECTS_QT_REFERENCE_REGISTRY_H
#define DIALECTS_QT_REFERENCE_REGISTRY_H

#include "dialects/qt/Qt.h"
#include "dialects/qt/reference/Evaluator.h"
#include "dialects/qt/reference/Functions.h"

#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace qt::reference {

/// The symbols and watched values of a function in evaluation.
template <typename Scalar> struct Environment {
  mlir::ModuleOp module;
  /// At entry.
  const SymbolMap<Scalar> &symbols;
  /// New values by symbol; of a pack, by member.
  SymbolMap<Scalar> updates;
  std::map<std::string, Tensor<Scalar>> hidden, gradients, hiddenGradients;
};

/// The values that the ops of one block see: its own, and those of the blocks around it.
template <typename Scalar> class Frame {
public:
  /// `tokens` is T where it is known; `environment` is null where there is no function.
  Frame(ValueMap<Scalar> &values, std::optional<int64_t> tokens, Environment<Scalar> *environment)
      : values_(values), tokens_(tokens), environment_(environment) {}
  /// The frame of a region's block inside `parent`.
  Frame(ValueMap<Scalar> &values, const Frame &parent)
      : values_(values), tokens_(parent.tokens_), environment_(parent.environment_), parent_(&parent) {}

  /// The value, or null if there is none.
  const Datum<Scalar> *find(mlir::Value value) const {
    auto it = values_.find(value);
    if (it != values_.end())
      return &it->second;
    return parent_ ? parent_->find(value) : nullptr;
  }
  const Datum<Scalar> &datum(mlir::Value value) const { return *find(value); }
  const Tensor<Scalar> &tensor(mlir::Value value) const { return std::get<Tensor<Scalar>>(datum(value)); }
  const IntTensor &integers(mlir::Value value) const { return std::get<IntTensor>(datum(value)); }
  const Segments &segments(mlir::Value value) const { return std::get<Segments>(datum(value)); }
  /// Null where an optional operand is absent.
  const Tensor<Scalar> *optional(mlir::Value value) const { return value ? &tensor(value) : nullptr; }

  /// Gives an op's result its value; an absent optional result (null) takes none.
  void set(mlir::Value result, Datum<Scalar> value) {
    if (result)
      values_[result] = std::move(value);
  }
  void drop(mlir::Value value) { values_.erase(value); }

  /// The extents of a type; a dynamic one is T.
  Shape extents(mlir::Type type) const {
    Shape shape(mlir::cast<mlir::RankedTensorType>(type).getShape());
    for (int64_t &extent : shape)
      if (mlir::ShapedType::isDynamic(extent))
        extent = tokens_.value_or(0);
    return shape;
  }
  std::optional<int64_t> tokens() const { return tokens_; }
  Environment<Scalar> *environment() const { return environment_; }

private:
  ValueMap<Scalar> &values_;
  std::optional<int64_t> tokens_;
  Environment<Scalar> *environment_;
  const Frame *parent_ = nullptr;
};

template <typename Scalar> using EvaluateFn = std::function<mlir::LogicalResult(mlir::Operation *, Frame<Scalar> &)>;

template <typename Op, typename Scalar>
concept HasReference = requires(Op op, Frame<Scalar> &frame) { evaluate(op, frame); };

template <typename Scalar> class Registry {
public:
  /// All ops there are.
  static const Registry &get();

  /// Registers those of `Ops` that have a function `evaluate`.
  template <typename... Ops> void add() { (addOne<Ops>(), ...); }

  /// Null where there is none.
  const EvaluateFn<Scalar> *find(mlir::OperationName name) const {
    auto it = functions_.find(name.getTypeID());
    return it == functions_.end() ? nullptr : &it->second;
  }

private:
  template <typename Op> void addOne() {
    if constexpr (HasReference<Op, Scalar>)
      functions_[mlir::TypeID::get<Op>()] = [](mlir::Operation *operation, Frame<Scalar> &frame) {
        auto op = mlir::cast<Op>(operation);
        using Result = decltype(evaluate(op, frame));
        if constexpr (std::is_same_v<Result, mlir::LogicalResult>)
          return evaluate(op, frame);
        else if constexpr (std::is_void_v<Result>)
          evaluate(op, frame);
        else
          frame.set(operation->getResult(0), evaluate(op, frame));
        return mlir::success();
      };
  }

  llvm::DenseMap<mlir::TypeID, EvaluateFn<Scalar>> functions_;
};

template <typename Scalar> void registerTensorOps(Registry<Scalar> &registry);
template <typename Scalar> void registerModelOps(Registry<Scalar> &registry);
template <typename Scalar> void registerCompoundOps(Registry<Scalar> &registry);
template <typename Scalar> void registerGradOps(Registry<Scalar> &registry);
template <typename Scalar> void registerStateOps(Registry<Scalar> &registry);

/// Says at `emitError` why a value is not one of `type`, or succeeds. A dynamic extent must be `rows`, if that is
/// known.
template <typename Scalar>
mlir::LogicalResult checkFits(const Datum<Scalar> &value, mlir::Type type, std::optional<int64_t> rows,
                              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Evaluates one op in a frame, with all checks.
template <typename Scalar> mlir::LogicalResult evaluateIn(mlir::Operation *op, Frame<Scalar> &frame);

/// Evaluates the ops of a block but the terminator; drops each value after its last use if `dropDead`.
template <typename Scalar> mlir::LogicalResult evaluateOps(mlir::Block &block, Frame<Scalar> &frame, bool dropDead);

} // namespace qt::reference

#endif // DIALECTS_QT_REFERENCE_REGISTRY_H
