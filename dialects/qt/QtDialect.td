// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef QT_DIALECT_TD
#define QT_DIALECT_TD

include "mlir/IR/DialectBase.td"

def Qt_Dialect : Dialect {
  let name = "qt";
  let cppNamespace = "::qt";
  let summary = "Training graphs over packed documents.";
  let description = [{
    A tensor's leading dimension counts tokens (or trained rows) of one packed row of documents. Ops that mix tokens take a `!qt.segments`, so that
    no value crosses the border of a document. Rows past the last document hold zeros wherever tokens are mixed, in values and in cotangents.

    The dialect has five families of ops: tensor ops (mathematics as the model's author writes it), model ops (named concepts of the
    field), compound ops (what a fused kernel computes), gradient ops (their adjoints) and state ops (parameters, optimizer state).
    Every op computes in f32 inside and rounds once to its result's element type.

    An op may carry the discardable attribute `qt.scope`, a string that names the part of the model it belongs to ("layers.3.mlp.down_proj"):
    every pass hands it on, and diagnostics and profiles show it. It has no other meaning.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // QT_DIALECT_TD
