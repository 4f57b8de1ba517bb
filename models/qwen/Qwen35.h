// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MODELS_QWEN_QWEN35_H
#define MODELS_QWEN_QWEN35_H

#include "models/qwen/Config.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace qcc::qwen {

/// The Qwen 3.5 / 3.6 / 3.8 text model of this shape as a module of the phase `model` (docs/model.md).
mlir::OwningOpRef<mlir::ModuleOp> buildModel(mlir::MLIRContext &context, const Config &config);

} // namespace qcc::qwen

#endif // MODELS_QWEN_QWEN35_H
