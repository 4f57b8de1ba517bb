// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every family of ops shares.
#ifndef QT_BASE_TD
#define QT_BASE_TD

include "dialects/qt/QtAttrs.td"
include "dialects/qt/QtInterfaces.td"
include "dialects/qt/QtTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/Properties.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Qt_Op<string mnemonic, list<Trait> traits = []> : Op<Qt_Dialect, mnemonic, traits>;

def Qt_Differentiable : DeclareOpInterfaceMethods<DifferentiableOpInterface>;
def Qt_HasResiduals : DeclareOpInterfaceMethods<ResidualOpInterface>;

// An op that the kernel `kernel` of the catalog computes; `params` are the accessors of its parameters, in the catalog's order. An op with an operand
// group `into` adds its Accumulate results to it.
class Qt_KernelOp<string mnemonic, string kernel, list<string> params = [], list<Trait> traits = [], bit hasInto = 0>
    : Qt_Op<mnemonic, !listconcat([Pure, KernelBackedOpInterface, CostOpInterface], traits)> {
  let extraClassDeclaration =
    "::qrt::Kernel getKernel() { return ::qrt::Kernel::" # kernel # "; }\n"
    # "double getFlops() { return ::qt::kernelFlops(getOperation()); }\n"
    # "void getKernelParams(::llvm::SmallVectorImpl<::qrt::ParamValue> &params) {\n"
    # !foldl("", params, text, param, text # "  ::qt::appendParam(params, " # param # ");\n")
    # "}\n"
    # !if(hasInto, "::mlir::OperandRange getAccumulated() { return getInto(); }\n", "");
  let hasVerifier = 1;
}

#endif // QT_BASE_TD
