// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The step dialect: programs that a device runs. Its ops are documented in docs/dialects/step.md, generated from the td
// files.
#ifndef DIALECTS_STEP_STEP_H
#define DIALECTS_STEP_STEP_H

#include "dialects/qt/Qt.h"

#include "mlir/IR/BuiltinOps.h"

#include "dialects/step/StepDialect.h.inc"
#include "dialects/step/StepEnums.h.inc"

namespace step {

/// What an instruction does to one of its operands.
struct Access {
  mlir::OpOperand *operand;
  Effect effect;
  /// Of a read: whether it means the value of a state after its update in this entry, not at entry (the catalog's
  /// ReadUpdated).
  bool readsUpdated = false;

  bool reads() const { return effect == Effect::Read || effect == Effect::InOut; }
  bool writes() const { return effect == Effect::Write || effect == Effect::InOut; }
};

/// The effect as the runtime has it; an absent argument's says nothing.
constexpr qrt::ArgEffect argEffect(Effect effect) {
  return effect == Effect::Write   ? qrt::ArgEffect::Write
         : effect == Effect::InOut ? qrt::ArgEffect::InOut
                                   : qrt::ArgEffect::Read;
}

/// Every buffer begins at a multiple of this many bytes.
constexpr int64_t kBufferAlignment = 256;

/// A view in terms of its buffer.
struct View {
  mlir::Value buffer;
  int64_t offset = 0; // elements
  llvm::ArrayRef<int64_t> shape;
  llvm::SmallVector<int64_t> strides; // elements
};
/// Looks through step.slice.
View viewOf(mlir::Value memory);

/// Strides of a memref in elements.
llvm::SmallVector<int64_t> stridesOf(mlir::MemRefType type);
/// Bytes of a contiguous memref.
int64_t bytesOf(mlir::MemRefType type);
/// The contiguous memref for a tensor, or for a segments value (its i32 table).
mlir::MemRefType memoryType(mlir::Type type);
/// The table's shape as the kernels' interface has it.
qrt::TensorShape tensorShape(mlir::MemRefType type);

/// A kernel as an attribute, by its name in the catalog.
mlir::Attribute kernelToAttr(mlir::MLIRContext *context, qrt::Kernel kernel);
llvm::LogicalResult kernelFromAttr(qrt::Kernel &kernel, mlir::Attribute attr,
                                   llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
llvm::LogicalResult readKernel(mlir::DialectBytecodeReader &reader, qrt::Kernel &kernel);

/// An expression as an attribute: numbers, as its tables have them.
mlir::Attribute expressionToAttr(mlir::MLIRContext *context, const qrt::Expression &expression);
llvm::LogicalResult expressionFromAttr(qrt::Expression &expression, mlir::Attribute attr,
                                       llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
void writeExpression(mlir::DialectBytecodeWriter &writer, const qrt::Expression &expression);
llvm::LogicalResult readExpression(mlir::DialectBytecodeReader &reader, qrt::Expression &expression);
llvm::hash_code hashExpression(const qrt::Expression &expression);

} // namespace step

#include "dialects/step/StepInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/step/StepAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/step/StepOps.h.inc"

#endif // DIALECTS_STEP_STEP_H
