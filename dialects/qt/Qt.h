// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The qt dialect: training graphs over packed documents. Its ops are documented in docs/dialects/qt.md, generated from
// the td files.
#ifndef DIALECTS_QT_QT_H
#define DIALECTS_QT_QT_H

#include "runtime/kernels/Expression.h"
#include "runtime/kernels/Kernel.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace qt {

/// Appends a parameter of a kernel call, an integer or a floating-point number.
inline void appendParam(llvm::SmallVectorImpl<qrt::ParamValue> &params, int64_t value) {
  params.push_back(qrt::ParamValue{.i = value});
}
inline void appendParam(llvm::SmallVectorImpl<qrt::ParamValue> &params, uint64_t value) {
  appendParam(params, static_cast<int64_t>(value));
}
inline void appendParam(llvm::SmallVectorImpl<qrt::ParamValue> &params, const llvm::APFloat &value) {
  params.push_back(qrt::ParamValue{.f = value.convertToDouble()});
}

/// Floating-point operations of a kernel-backed op of static shapes, by the catalog's formula.
double kernelFlops(mlir::Operation *op);

/// The bytes of all operands and results of an op of static shapes; a segments value counts as its table.
double operandAndResultBytes(mlir::Operation *op);

/// Bytes of a tensor of static shape.
int64_t tensorBytes(mlir::Type type);

/// The name of the discardable attribute that says which part of the model an op belongs to.
constexpr llvm::StringLiteral kScopeAttr = "qt.scope";
/// The name of the discardable unit attribute on an op, and on its instruction, that computes again what the forward
/// pass computed. A note for readers, as the scope is: no pass decides by it.
constexpr llvm::StringLiteral kRecomputedAttr = "qt.recomputed";
/// The name of the discardable attribute on an op that promised compounds and became none of them, until the phase
/// `formed` ends: a dictionary that says why not (a text), by the names of these compounds.
constexpr llvm::StringLiteral kMissedAttr = "qt.missed";
/// The names of the attributes on entry functions, their arguments and their results.
constexpr llvm::StringLiteral kEntryAttr = "qt.entry";
constexpr llvm::StringLiteral kArgumentAttr = "qt.argument";
constexpr llvm::StringLiteral kResultAttr = "qt.result";
/// The names of the attributes on a module: what the pipeline did, and what the model's author said.
constexpr llvm::StringLiteral kPhaseAttr = "qt.phase";
constexpr llvm::StringLiteral kStatesAttr = "qt.states";
constexpr llvm::StringLiteral kRematAttr = "qt.remat";
constexpr llvm::StringLiteral kMemoryAttr = "qt.memory"; ///< bytes of device memory: what #qt.remat<budget> keeps to
constexpr llvm::StringLiteral kTargetAttr = "qt.target";
constexpr llvm::StringLiteral kModelConfigAttr = "qt.model_config";
constexpr llvm::StringLiteral kVocabularyAttr = "qt.vocabulary";
constexpr llvm::StringLiteral kOtherTensorsAttr = "qt.other_tensors";

} // namespace qt

#include "dialects/qt/QtDialect.h.inc"
#include "dialects/qt/QtEnums.h.inc"

namespace qt {

/// Traits of ops: see QtInterfaces.td.
template <typename Op> class InModel : public mlir::OpTrait::TraitBase<Op, InModel> {};
template <typename Op> class Pointwise : public mlir::OpTrait::TraitBase<Op, Pointwise> {};
template <typename Op> class MatrixProduct : public mlir::OpTrait::TraitBase<Op, MatrixProduct> {};

class PointwiseOp; // qt.yield, of another family, ends its body

} // namespace qt

#include "dialects/qt/QtInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/qt/QtAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/qt/QtTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/qt/QtTensorOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/qt/QtModelOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/qt/QtCompoundOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/qt/QtGradOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/qt/QtStateOps.h.inc"

namespace qt {

/// An argument of a kernel-backed op's kernel, in the catalog's order: the operand or result in its place, its effect
/// in this call (Read, Write or InOut), or nothing for an absent optional argument. A tied or accumulated
/// result stands with the operand it overwrites.
struct KernelArgument {
  mlir::Value read;  // what is read: null for Write
  mlir::Value write; // what is written: null for Read
  qrt::ArgEffect effect = qrt::ArgEffect::Read;
  bool readsUpdated = false; // ReadUpdated in the catalog

  bool absent() const { return !read && !write; }
};
llvm::SmallVector<KernelArgument> kernelArguments(KernelBackedOpInterface op);

/// The operation of an expression that a pointwise op is. Nothing for an op that no expression has; nor for a cast,
/// which is none: what it gives is its operand.
std::optional<qrt::ExpressionOp> expressionOp(mlir::Operation *op);

/// The element type as the runtime names it; the type must be one a kernel can have.
qrt::DType elementDType(mlir::Type elementType);

} // namespace qt

#endif // DIALECTS_QT_QT_H
