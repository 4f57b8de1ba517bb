// A compound that is missed leaves pointwise ops: a cluster computes them, a warning says so without being asked, and the table says why.
// RUN: qcc build %s --buckets 16 --compile-to fused -o %t.mlir --explain 2> %t.err | FileCheck %s --implicit-check-not=swiglu
// RUN: FileCheck %s --check-prefix=WARNING --implicit-check-not=warning < %t.err
// RUN: qcc build %s --buckets 16 --compile-to fused -o %t.mlir 2>&1 | FileCheck %s --check-prefix=WARNING --implicit-check-not=warning

// WARNING: missed.mlir:[[#]]:[[#]]: warning: no compound takes qt.mul, qt.silu in scope 'layers.0.mlp' of @model: computed by themselves, they read and write at least 192 bytes a token
// WARNING: missed.mlir:[[#]]:[[#]]: note: missed swiglu: expected a product with the silu; got qt.linear

// The clusters of the forward and of the backward pass, in the function of the table alone: an evaluation has its own.
// CHECK:      layers.0: written as 6 ops, now 3
// CHECK-NEXT:   op          where      forward GFLOP        MiB  backward GFLOP        MiB
// CHECK-NEXT:   linear      mlp
// CHECK-NEXT:     <- 2 linear on the pack [gate_proj, up_proj]
// CHECK-NEXT:   pointwise   mlp        0.000002    0.00293        0.000004    0.00488
// CHECK-NEXT:     <- mul, silu
// CHECK-NEXT:     <- sigmoid, 4 mul, sub, add
// CHECK-NEXT:   linear      mlp.down_proj
// CHECK-NEXT:   add         mlp
// CHECK-NEXT:   missed swiglu at mlp: expected a product with the silu; got qt.linear
// CHECK:      missed: 1, see above

qt.parameter @embed_tokens.weight : tensor<32x8xf32> init <normal, 0.0, 2.0e-02> names ["embed_tokens.weight"]
qt.parameter @layers.0.mlp.gate_proj.weight : tensor<16x8xf32> init <normal, 0.0, 2.0e-02> names ["gate_proj.weight"]
qt.parameter @layers.0.mlp.up_proj.weight : tensor<16x8xf32> init <normal, 0.0, 2.0e-02> names ["up_proj.weight"]
qt.parameter @layers.0.mlp.down_proj.weight : tensor<8x16xf32> init <normal, 0.0, 2.0e-02> names ["down_proj.weight"]
qt.parameter @norm.weight : tensor<8xf32> init <zeros> names ["norm.weight"]
qt.parameter @lm_head.weight : tensor<32x8xf32> init <normal, 0.0, 2.0e-02> names ["lm_head.weight"]
func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>}, %docs: !qt.segments {qt.argument = #qt.argument<segments>}) -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<model>} {
  %ew = qt.read @embed_tokens.weight : tensor<32x8xf32>
  %x = qt.embedding %docs, %ids, %ew {qt.scope = "embed_tokens"} : (!qt.segments, tensor<?xi32>, tensor<32x8xf32>) -> tensor<?x8xf32>
  %gw = qt.read @layers.0.mlp.gate_proj.weight : tensor<16x8xf32>
  %gate = qt.linear %x, %gw {qt.scope = "layers.0.mlp.gate_proj"} : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  %uw = qt.read @layers.0.mlp.up_proj.weight : tensor<16x8xf32>
  %up = qt.linear %x, %uw {qt.scope = "layers.0.mlp.up_proj"} : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  // The silu belongs on the gate.
  %p = qt.mul %gate, %up {qt.scope = "layers.0.mlp"} : tensor<?x16xf32>, tensor<?x16xf32>
  %y = qt.silu %p {qt.scope = "layers.0.mlp"} : tensor<?x16xf32>
  %dw = qt.read @layers.0.mlp.down_proj.weight : tensor<8x16xf32>
  %down = qt.linear %y, %dw {qt.scope = "layers.0.mlp.down_proj"} : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32>
  %sum = qt.add %x, %down {qt.scope = "layers.0"} : tensor<?x8xf32>, tensor<?x8xf32>
  %nw = qt.read @norm.weight : tensor<8xf32>
  %n = qt.rms_norm %sum, %nw eps 1.0e-6 {qt.scope = "norm"} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %hw = qt.read @lm_head.weight : tensor<32x8xf32>
  %logits = qt.linear %n, %hw {qt.scope = "lm_head"} : tensor<?x8xf32>, tensor<32x8xf32> -> tensor<?x32xf32>
  %loss = qt.cross_entropy %logits, %labels {qt.scope = "lm_head"} : tensor<?x32xf32>, tensor<?xi32> -> tensor<f32>
  return %loss : tensor<f32>
}
