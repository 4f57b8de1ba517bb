// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STEP_DIALECT_TD
#define STEP_DIALECT_TD

include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/Properties.td"

def Step_Dialect : Dialect {
  let name = "step";
  let cppNamespace = "::step";
  let summary = "Step programs: what a device runs, instruction by instruction, over memory planned beforehand.";
  let description = [{
    A `step.entry` is a straight line of instructions over buffers of four spaces:

    | space | holds | place |
    |---|---|---|
    | `state` | weights, masters, moments, counters; outlives a step | the row of its symbol in `step.layout` |
    | `gradients` | accumulated gradients, reserved only when micro-batches accumulate | likewise |
    | `io` | the batch and its tables, scalars in, results out | an offset in the entry's io |
    | `transient` | everything else; one arena, reused within the entry | an offset in the arena |

    `step.state`, `step.argument`, `step.result` and `step.transient` name a buffer: memory with one meaning from its first write to its last
    use. `step.slice` is a view of a buffer. Buffers begin at multiples of 256 bytes. Instructions read and write buffers and slices; each operand is written
    `read`, `write` or `inout`, and hazards, lifetimes and the edges of a device's graph follow from that alone.

    ```mlir
    step.entry @step.128 step bucket <128, 4, 128, 128> io 8192 transient 65536 {
      %ids = step.argument ids 1280 : memref<128xi32>
      %docs = step.argument segments 2304 : memref<407xi32>
      %embed_tokens.weight = step.state @embed_tokens.weight : memref<512x64xf32>
      %t = step.transient 0 : memref<128x64xf32>
      step.launch embedding(read %docs, read %ids, read %embed_tokens.weight, write %t)
          : memref<407xi32>, memref<128xi32>, memref<512x64xf32>, memref<128x64xf32>
      ...
    }
    ```

    An instruction may carry `qt.scope`, as ops of the qt dialect do.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::qt::QtDialect"];
}

class Step_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::step";
  let genSpecializedAttr = 0;
}

def Step_Space : Step_Enum<"Space", "where a buffer lies", [
  I32EnumAttrCase<"State", 0, "state">, I32EnumAttrCase<"Gradients", 1, "gradients">, I32EnumAttrCase<"Io", 2, "io">,
  I32EnumAttrCase<"Transient", 3, "transient">]>;
def Step_SpaceAttr : EnumAttr<Step_Dialect, Step_Space, "space">;

def Step_Effect : Step_Enum<"Effect", "what an instruction does to an argument", [
  I32EnumAttrCase<"Absent", 0, "none">, // an optional argument that is not there
  I32EnumAttrCase<"Read", 1, "read">, I32EnumAttrCase<"Write", 2, "write">, I32EnumAttrCase<"InOut", 3, "inout">]>;

#endif // STEP_DIALECT_TD
