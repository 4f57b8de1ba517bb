// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The custom directives of StepOps.td's assembly formats.
#ifndef DIALECTS_STEP_STEPSYNTAX_H
#define DIALECTS_STEP_STEPSYNTAX_H

#include "dialects/step/Step.h"
#include "mlir/IR/OpImplementation.h"

namespace step {

/// A bare keyword: `step`, `ids`, `loss`.
mlir::ParseResult parseEntryKind(mlir::OpAsmParser &parser, qt::EntryKindAttr &kind);
void printEntryKind(mlir::OpAsmPrinter &printer, mlir::Operation *, qt::EntryKindAttr kind);
mlir::ParseResult parseArgumentRole(mlir::OpAsmParser &parser, qt::ArgumentRoleAttr &role);
void printArgumentRole(mlir::OpAsmPrinter &printer, mlir::Operation *, qt::ArgumentRoleAttr role);
mlir::ParseResult parseResultRole(mlir::OpAsmParser &parser, qt::ResultRoleAttr &role);
void printResultRole(mlir::OpAsmPrinter &printer, mlir::Operation *, qt::ResultRoleAttr role);

/// `bucket <tokens, documents, longest, trained>`, or nothing.
mlir::ParseResult parseBucket(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &bucket);
void printBucket(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::DenseI64ArrayAttr bucket);

/// `write` or `inout`.
mlir::ParseResult parseWriteOrInOut(mlir::OpAsmParser &parser, mlir::UnitAttr &inOut);
void printWriteOrInOut(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::UnitAttr inOut);

} // namespace step

#endif // DIALECTS_STEP_STEPSYNTAX_H
