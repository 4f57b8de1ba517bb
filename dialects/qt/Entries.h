// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry functions: functions with a `qt.entry` attribute, whose arguments and results say what they are.
#ifndef DIALECTS_QT_ENTRIES_H
#define DIALECTS_QT_ENTRIES_H

#include "dialects/qt/Qt.h"
#include "runtime/base/BucketShape.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace qt {

/// What the function is for, or nothing if it is no entry function.
std::optional<EntryKind> entryKind(mlir::FunctionOpInterface function);

/// The function's argument of this role; null if it has none.
mlir::BlockArgument findArgument(mlir::FunctionOpInterface function, ArgumentRole role);

/// The bucket that the function is made for: of its segments value; nothing if it has none (apply).
std::optional<qrt::BucketShape> bucketOf(mlir::FunctionOpInterface function);

/// Whether the function is made for any row: it takes a segments value without a bucket. What further buckets are made
/// from; phases after `bucketed` leave it alone.
bool isGeneric(mlir::FunctionOpInterface function);

/// Appends an argument with its role to a function that has a body.
mlir::BlockArgument appendArgument(mlir::FunctionOpInterface function, mlir::Type type, ArgumentRole role);

} // namespace qt

#endif // DIALECTS_QT_ENTRIES_H
