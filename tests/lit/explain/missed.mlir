// A compound that is missed leaves pointwise ops, so the build fails; the table says why, beside what was formed.
// RUN: not qcc build %s --buckets 16 -o %t.qprog --explain 2> %t.err | FileCheck %s --implicit-check-not=swiglu
// RUN: FileCheck %s --check-prefix=ERROR < %t.err

// ERROR: missed.mlir:[[#]]:[[#]]: error: 'qt.mul' op is a pointwise op left over in scope 'layers.0.mlp'
// ERROR: missed.mlir:[[#]]:[[#]]: error: 'qt.silu' op is a pointwise op left over in scope 'layers.0.mlp'

// CHECK:      the model, as far as it was formed
// CHECK:      layers.0: written as 6 ops, now 4
// CHECK-NEXT:   op          where
// CHECK-NEXT:   linear      mlp
// CHECK-NEXT:     <- 2 linear on the pack [gate_proj, up_proj]
// CHECK-NEXT:   mul         mlp
// CHECK-NEXT:   silu        mlp
// CHECK-NEXT:   linear      mlp.down_proj
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
