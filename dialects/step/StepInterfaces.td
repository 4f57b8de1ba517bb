// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STEP_INTERFACES_TD
#define STEP_INTERFACES_TD

include "mlir/IR/OpBase.td"

def InstructionOpInterface : OpInterface<"InstructionOpInterface"> {
  let cppNamespace = "::step";
  let description = "An op that the device runs, with what it does to each of its operands.";
  let methods = [InterfaceMethod<"The operands with their effects, in the order of the operands.",
    "::llvm::SmallVector<::step::Access>", "getAccesses", (ins)>];
}

def BufferOpInterface : OpInterface<"BufferOpInterface"> {
  let cppNamespace = "::step";
  let description = "An op whose result names a buffer: contiguous memory of its own.";
  let methods = [
    InterfaceMethod<"The space it lies in.", "::step::Space", "getSpace", (ins)>,
    InterfaceMethod<"Where it begins in its space, in bytes.", "int64_t", "getByteOffset", (ins)>];
}

#endif // STEP_INTERFACES_TD
