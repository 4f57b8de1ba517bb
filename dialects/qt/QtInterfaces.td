// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef QT_INTERFACES_TD
#define QT_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::qt";
  let description = "An op that knows its adjoint (vector-Jacobian product).";
  let methods = [InterfaceMethod<[{
      Emits the adjoint. `cotangents` has one value a result, null where nothing depends on it (residual results: always
      null); at least one is not null. Returns one value an operand, null where the op has no derivative in it. Emits
      what every operand needs: what nobody reads is removed later.
    }],
    "::llvm::SmallVector<::mlir::Value>", "buildAdjoint",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents)>];
}

def ResidualOpInterface : OpInterface<"ResidualOpInterface"> {
  let cppNamespace = "::qt";
  let description = [{
    An op with optional results that only its adjoint reads: values it has at hand and the adjoint would compute again.
    They are the last results of the op. Autodiff asks for all of them; an adjoint rebuilds what is absent.
  }];
  let methods = [InterfaceMethod<
    "The types of all residuals, present or not, in order.",
    "::llvm::SmallVector<::mlir::Type>", "getResidualTypes", (ins)>];
}

def KernelBackedOpInterface : OpInterface<"KernelBackedOpInterface"> {
  let cppNamespace = "::qt";
  let description = [{
    An op that one kernel of runtime/kernels/catalog.def computes. The kernel's arguments are the op's operands without
    `into`, then its results that are tied to no operand, in order, variadic ones last; an absent optional operand or
    result is an absent argument. Operands in `into` belong, one each and in order, to the results that the catalog
    calls Accumulate.
  }];
  let methods = [
    InterfaceMethod<"The kernel.", "::qrt::Kernel", "getKernel", (ins)>,
    InterfaceMethod<"Appends its parameters, in the catalog's order.", "void", "getKernelParams",
      (ins "::llvm::SmallVectorImpl<::qrt::ParamValue> &":$params), "", "">,
    InterfaceMethod<"What the kernel `pointwise` computes; of others nothing.", "::std::optional<::qrt::Expression>",
      "getExpression", (ins), "", "return std::nullopt;">,
    InterfaceMethod<"The operand that a result overwrites (an inout argument), or nothing.",
      "::std::optional<unsigned>", "getTiedOperand", (ins "unsigned":$result), "", "return std::nullopt;">,
    InterfaceMethod<"The values that the Accumulate results are added to: none, or one each.",
      "::mlir::OperandRange", "getAccumulated", (ins), "", "return $_op->getOperands().take_front(0);">
  ];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::qt";
  let description = "An op with a cost that the planner and --explain count. Shapes must be static.";
  let methods = [
    InterfaceMethod<"Floating-point operations.", "double", "getFlops", (ins)>,
    InterfaceMethod<"Bytes read and written.", "double", "getBytes", (ins), "",
      "return ::qt::operandAndResultBytes($_op);">
  ];
}

def ViewOpInterface : OpInterface<"ViewOpInterface"> {
  let cppNamespace = "::qt";
  let description = "An op that computes nothing: its results lie where operands of it lie, if the plan can have it so.";
  let methods = [InterfaceMethod<"The operands that its results show.", "::mlir::OperandRange", "getViewed", (ins), "",
    "return $_op->getOperands();">];
}

class Qt_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::qt";
}
// What the author of a model may write: all that the phase `model` has.
def Qt_InModel : Qt_Trait<"InModel">;
// Each element of the result comes of the operands' elements at its place alone.
def Qt_Pointwise : Qt_Trait<"Pointwise">;
// One matrix product.
def Qt_MatrixProduct : Qt_Trait<"MatrixProduct">;

#endif // QT_INTERFACES_TD
