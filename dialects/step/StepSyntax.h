// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The custom directives of StepOps.td's assembly formats.
#ifndef DIALECTS_STEP_STEPSYNTAX_H
#define DIALECTS_STEP_STEPSYNTAX_H

#include "dialects/step/Step.h"

#include "mlir/IR/OpImplementation.h"

namespace step {

/// A bare keyword: `state`, `ids`, `loss`.
mlir::ParseResult parseSpace(mlir::OpAsmParser &parser, SpaceAttr &space);
void printSpace(mlir::OpAsmPrinter &printer, mlir::Operation *, SpaceAttr space);
mlir::ParseResult parseArgumentRole(mlir::OpAsmParser &parser, qt::ArgumentRoleAttr &role);
void printArgumentRole(mlir::OpAsmPrinter &printer, mlir::Operation *, qt::ArgumentRoleAttr role);
mlir::ParseResult parseResultRole(mlir::OpAsmParser &parser, qt::ResultRoleAttr &role);
void printResultRole(mlir::OpAsmPrinter &printer, mlir::Operation *, qt::ResultRoleAttr role);

/// `step bucket <tokens, documents, longest, trained>`, or a kind alone.
mlir::ParseResult parseKindAndBucket(mlir::OpAsmParser &parser, qt::EntryKindAttr &kind,
                                     mlir::DenseI64ArrayAttr &bucket);
void printKindAndBucket(mlir::OpAsmPrinter &printer, mlir::Operation *, qt::EntryKindAttr kind,
                        mlir::DenseI64ArrayAttr bucket);

/// `write` or `inout`.
mlir::ParseResult parseWriteOrInOut(mlir::OpAsmParser &parser, mlir::UnitAttr &inOut);
void printWriteOrInOut(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::UnitAttr inOut);

} // namespace step

#endif // DIALECTS_STEP_STEPSYNTAX_H
