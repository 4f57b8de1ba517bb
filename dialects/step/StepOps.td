// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STEP_OPS_TD
#define STEP_OPS_TD

include "dialects/qt/QtAttrs.td"
include "dialects/step/StepDialect.td"
include "dialects/step/StepInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Step_Op<string mnemonic, list<Trait> traits = []> : Op<Step_Dialect, mnemonic, traits>;

// Row-major memory without gaps, or a view with strides.
def Step_MemRef : MemRefOf<[F32, BF16, I32, I64]>;
def Step_Bytes : ConfinedAttr<I64Attr, [IntNonNegative]>;
def Step_BucketAttr : DenseArrayAttrBase<"DenseI64ArrayAttr", "int64_t", "extents of a bucket">;

def Step_KernelProp : Property<"::qrt::Kernel", "a kernel of the catalog"> {
  let convertToAttribute = "return ::step::kernelToAttr($_ctxt, $_storage);";
  let convertFromAttribute = "return ::step::kernelFromAttr($_storage, $_attr, $_diag);";
  let writeToMlirBytecode = "$_writer.writeOwnedString(::qrt::kernelInfo($_storage).name);";
  let readFromMlirBytecode = [{
    if (::mlir::failed(::step::readKernel($_reader, $_storage)))
      return ::mlir::failure();
  }];
}

// The expression of a call of `pointwise`; of other calls it has no results.
def Step_ExpressionProp : Property<"::qrt::Expression", "what a call of pointwise computes"> {
  let interfaceType = "const ::qrt::Expression &";
  let defaultValue = "::qrt::Expression()";
  let hashProperty = "::step::hashExpression($_storage)";
  let convertToAttribute = "return ::step::expressionToAttr($_ctxt, $_storage);";
  let convertFromAttribute = "return ::step::expressionFromAttr($_storage, $_attr, $_diag);";
  let writeToMlirBytecode = "::step::writeExpression($_writer, $_storage);";
  let readFromMlirBytecode = [{
    if (::mlir::failed(::step::readExpression($_reader, $_storage)))
      return ::mlir::failure();
  }];
}

//===----------------------------------------------------------------------===//
// The layout
//===----------------------------------------------------------------------===//

def Step_LayoutOp : Step_Op<"layout", [NoTerminator, SingleBlock, SymbolTable, IsolatedFromAbove, HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "where every parameter, pack and state lies: one table for all programs of a model";
  let description = [{
    ```mlir
    step.layout state 65792 gradients 0 {
      step.place @embed_tokens.weight state 0 : memref<512x32xf32>
      step.place @counters state 65536 : memref<2xi64>
    }
    ```
    The members of a pack lie in the pack, one behind the other, and have no row of their own.
  }];
  let arguments = (ins Step_Bytes:$state_bytes, Step_Bytes:$gradient_bytes);
  let regions = (region SizedRegion<1>:$places);
  let assemblyFormat = "`state` $state_bytes `gradients` $gradient_bytes attr-dict-with-keyword $places";
  let hasRegionVerifier = 1;
}

def Step_PlaceOp : Step_Op<"place", [Symbol, HasParent<"LayoutOp">]> {
  let summary = "the place of a symbol's buffer";
  let arguments = (ins SymbolNameAttr:$sym_name, Step_SpaceAttr:$space, Step_Bytes:$offset, TypeAttrOf<Step_MemRef>:$type);
  let assemblyFormat = "$sym_name custom<Space>($space) $offset `:` $type attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Entries and their buffers
//===----------------------------------------------------------------------===//

def Step_EntryOp : Step_Op<"entry", [Symbol, NoTerminator, SingleBlock, IsolatedFromAbove, HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one function of the program for one bucket";
  let description = [{
    `bucket` is (tokens, documents, longest document, trained rows), as in `!qt.segments`; an entry of kind `apply` has none. `io_bytes` and
    `transient_bytes` are the sizes of the two spaces that belong to the entry.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Qt_EntryKindAttr:$kind, Step_BucketAttr:$bucket, Step_Bytes:$io_bytes,
                       Step_Bytes:$transient_bytes);
  let regions = (region SizedRegion<1>:$instructions);
  let assemblyFormat = [{
    $sym_name custom<KindAndBucket>($kind, $bucket) `io` $io_bytes `transient` $transient_bytes attr-dict-with-keyword $instructions
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

class Step_BufferOp<string mnemonic, list<Trait> traits = []> : Step_Op<mnemonic, !listconcat([Pure, HasParent<"EntryOp">,
    DeclareOpInterfaceMethods<BufferOpInterface>, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>], traits)> {
  let results = (outs Step_MemRef:$memory);
  let hasVerifier = 1;
}

def Step_StateOp : Step_BufferOp<"state"> {
  let summary = "the buffer of a parameter, pack or state, placed by the layout";
  let arguments = (ins FlatSymbolRefAttr:$symbol);
  let assemblyFormat = "$symbol attr-dict `:` type($memory)";
}

def Step_ArgumentOp : Step_BufferOp<"argument"> {
  let summary = "what the host fills before the entry runs";
  let arguments = (ins Qt_ArgumentRoleAttr:$role, Step_Bytes:$offset);
  let assemblyFormat = "custom<ArgumentRole>($role) $offset attr-dict `:` type($memory)";
}

def Step_ResultOp : Step_BufferOp<"result"> {
  let summary = "what the host reads after the entry has run";
  let arguments = (ins Qt_ResultRoleAttr:$role, Step_Bytes:$offset);
  let assemblyFormat = "custom<ResultRole>($role) $offset attr-dict `:` type($memory)";
}

def Step_TransientOp : Step_BufferOp<"transient"> {
  let summary = "a buffer of the arena, without meaning before its first write and after its last use";
  let arguments = (ins Step_Bytes:$offset);
  let assemblyFormat = "$offset attr-dict `:` type($memory)";
}

def Step_SliceOp : Step_Op<"slice", [Pure, HasParent<"EntryOp">, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a view of a buffer: `offset` counts elements from its beginning, strides count elements";
  let description = [{
    ```mlir
    %z = step.slice %qkvz[96] : memref<128x160xf32> -> memref<128x64xf32, strided<[160, 1]>>
    ```
  }];
  let arguments = (ins Step_MemRef:$buffer, Step_Bytes:$offset);
  let results = (outs Step_MemRef:$view);
  let assemblyFormat = "$buffer `[` $offset `]` attr-dict `:` type($buffer) `->` type($view)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

class Step_Instruction<string mnemonic, list<Trait> traits = []> : Step_Op<mnemonic, !listconcat([HasParent<"EntryOp">,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, DeclareOpInterfaceMethods<InstructionOpInterface>], traits)> {
  let hasVerifier = 1;
}

def Step_LaunchOp : Step_Instruction<"launch", [AttrSizedOperandSegments]> {
  let summary = "a kernel of the catalog";
  let description = [{
    The arguments stand in the catalog's order, absent optional ones as `none`, then the parameters by the catalog's names:

    ```mlir
    step.launch rms_norm(read %x, read %norm.weight, write %y, none) params(eps = 1.000000e-06)
        : memref<128x64xf32>, memref<64xf32>, memref<128x64xf32>
    ```
    `argument_effects` has an entry for each argument of the call, present or not. Parameters are 64 bits each: integers, or the bits of a double.
    A `workspace` is memory of this call alone, as much as the target's kernel asks for. A call of `pointwise` has an expression: its steps, by the
    number of the value that each gives (the inputs, which come last among the arguments, are the first values), and the values that are written.

    ```mlir
    step.launch pointwise(write %y, none, none, none, read %gate, read %up) expression [2: silu(0), 3: mul(2, 1), 4: scale(3, 5.000000e-01)] results [4]
        : memref<128x96xf32>, memref<128x96xf32>, memref<128x96xf32>
    ```
  }];
  let arguments = (ins Step_KernelProp:$kernel, Variadic<Step_MemRef>:$arguments, Optional<Step_MemRef>:$workspace,
                       DenseI32ArrayAttr:$argument_effects, DenseI64ArrayAttr:$params, Step_ExpressionProp:$expression);
  let hasCustomAssemblyFormat = 1;
  let builders = [OpBuilder<(ins "::qrt::Kernel":$kernel, "::mlir::ValueRange":$arguments, "::llvm::ArrayRef<::step::Effect>":$effects,
                                 "::llvm::ArrayRef<::qrt::ParamValue>":$params, "::std::optional<::qrt::Expression>":$expression,
                                 "::mlir::Value":$workspace)>];
  let extraClassDeclaration = [{
    ::step::Effect getEffect(size_t argument) { return static_cast<::step::Effect>(getArgumentEffects()[argument]); }
    /// Null where the call has none.
    const ::qrt::Expression *getExpressionOrNull() {
      const ::qrt::Expression &expression = getProperties().expression;
      return expression.results.empty() ? nullptr : &expression;
    }
    /// The arguments of the call in the catalog's order: null for an absent one.
    ::llvm::SmallVector<::mlir::Value> getCallArguments();
  }];
}

def Step_GemmOp : Step_Instruction<"gemm"> {
  let summary = "c = a b, or c += a b where c is inout; either factor may be transposed";
  let description = [{
    ```mlir
    step.gemm write %y, read %x, read transpose %w : memref<128x160xf32>, memref<128x64xf32>, memref<160x64xf32>
    ```
    Matrices are [rows, columns], their columns one behind the other. Products and sums in f32.
  }];
  let arguments = (ins Step_MemRef:$c, Step_MemRef:$a, Step_MemRef:$b, UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$accumulate);
  let assemblyFormat = [{
    custom<WriteOrInOut>($accumulate) $c `,` `read` (`transpose` $transpose_a^)? $a `,` `read` (`transpose` $transpose_b^)? $b attr-dict
    `:` type($c) `,` type($a) `,` type($b)
  }];
}

def Step_CopyOp : Step_Instruction<"copy"> {
  let summary = "copies elements between views of one shape and element type";
  let arguments = (ins Step_MemRef:$target, Step_MemRef:$source);
  let assemblyFormat = "`write` $target `,` `read` $source attr-dict `:` type($target) `,` type($source)";
}

def Step_FillOp : Step_Instruction<"fill"> {
  let summary = "makes every element zero";
  let arguments = (ins Step_MemRef:$target);
  let assemblyFormat = "`write` $target attr-dict `:` type($target)";
}

def Step_WatchOp : Step_Op<"watch", [HasParent<"EntryOp">, MemoryEffects<[MemWrite]>]> {
  let summary = "a row of the debug table: what `value` holds once the instruction before has run";
  let arguments = (ins Step_MemRef:$value, StrAttr:$name, UnitAttr:$gradient);
  let assemblyFormat = "(`gradient` $gradient^)? $value `as` $name attr-dict `:` type($value)";
  let hasVerifier = 1;
}

#endif // STEP_OPS_TD
