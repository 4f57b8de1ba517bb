// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of one entry function: which instructions run in what order, and where everything lies that they read and
// write.
#ifndef COMPILER_PLAN_ENTRYPLAN_H
#define COMPILER_PLAN_ENTRYPLAN_H

#include "compiler/plan/StateLayout.h"
#include "compiler/plan/Views.h"
#include "compiler/target/KernelCall.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace qcc {

/// Memory of one meaning, contiguous. It is named by exactly one of: a symbol (state, gradients), an argument's role, a
/// result's role (io); or it lies in the arena (transient).
struct PlannedBuffer {
  step::Space space = step::Space::Transient;
  mlir::MemRefType type = nullptr;
  mlir::StringAttr symbol = nullptr;
  std::optional<qt::ArgumentRole> argument = std::nullopt;
  std::optional<qt::ResultRole> result = std::nullopt;
  /// Bytes from the beginning of its space.
  int64_t offset = 0;
  /// The first and last instruction that uses it; -1: none does.
  int64_t first = -1;
  int64_t last = -1;
};

/// An argument of an instruction: no view for an absent optional one.
struct PlannedAccess {
  std::optional<BufferView> view;
  step::Effect effect = step::Effect::Absent;
};

enum class InstructionKind : uint8_t {
  Kernel, ///< the op's kernel; accesses in the catalog's order
  Gemm,   ///< c, a, b
  Copy,   ///< target, source
  Fill,   ///< target
};

struct PlannedInstruction {
  InstructionKind kind;
  mlir::Operation *op; // what it comes from
  llvm::SmallVector<PlannedAccess, 6> accesses;
  /// Of a kernel: the last access is its workspace.
  bool hasWorkspace = false;
};

/// What a call is to the target; diagnosed at `op` where the target cannot do it.
using PlanCall = llvm::function_ref<mlir::FailureOr<CallNeeds>(mlir::Operation *op, const KernelCall &call)>;

/// A value that an op is given, but that its kernel on the target does not read.
struct UnreadOperand {
  mlir::Operation *op;
  mlir::Value value;
};

/// A row of the debug table: the view holds the watched value once `instruction` has run.
struct PlannedWatch {
  qt::WatchOp op;
  int64_t instruction;
  BufferView view;
};

struct EntryPlan {
  std::vector<PlannedBuffer> buffers;
  std::vector<PlannedInstruction> instructions;
  std::vector<PlannedWatch> watches;
  std::vector<UnreadOperand> unread;
  int64_t ioBytes = 0;
  /// As placeBuffers has it.
  int64_t transientBytes = 0;
  /// No placement of these instructions' buffers needs less.
  int64_t transientBound = 0;
};

/// Plans an entry function of static shapes, up to where transient buffers lie. What is neither a view, nor backed by a
/// kernel, nor a matrix product, nor zeros is diagnosed (see checkKernels for the choice of a target); `planCall`
/// diagnoses calls that the target cannot do.
mlir::FailureOr<EntryPlan> planEntry(mlir::func::FuncOp function, const StateLayout &layout, PlanCall planCall);

/// The tensor that a view of a plan's buffer is.
qrt::TensorShape shapeOf(const EntryPlan &plan, const BufferView &view);

/// A kernel's instruction as a call, its workspace aside.
KernelCall callOf(const EntryPlan &plan, const PlannedInstruction &instruction);

/// Whether a matrix product reads its first and its second operand transposed: y = x W^T, dx = dy W, dW = dy^T x.
std::pair<bool, bool> transposed(mlir::Operation *product);

/// Places the transient buffers of a plan in one arena.
mlir::LogicalResult placeBuffers(mlir::func::FuncOp function, EntryPlan &plan);

} // namespace qcc

#endif // COMPILER_PLAN_ENTRYPLAN_H
