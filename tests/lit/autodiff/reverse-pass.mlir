// Which contributions the reverse pass makes, sums and leaves out.
// RUN: qcc-opt %s --split-input-file --build-entries | FileCheck %s

// A value that two ops read has the sum of their cotangents. A weight read in two places has the sum of their gradients, in f32 and in the order of the
// reverse pass; both reads may be one or two.
qt.parameter @embed : tensor<8x4xbf16> init <zeros> names ["embed"]
qt.parameter @w : tensor<4x4xbf16> init <zeros> names ["w"]
qt.parameter @head : tensor<8x4xbf16> init <zeros> names ["head"]
func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                 %docs: !qt.segments {qt.argument = #qt.argument<segments>})
    -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<model>} {
  %e = qt.read @embed : tensor<8x4xbf16>
  %x = qt.embedding %docs, %ids, %e : (!qt.segments, tensor<?xi32>, tensor<8x4xbf16>) -> tensor<?x4xbf16>
  %w = qt.read @w : tensor<4x4xbf16>
  %a = qt.linear %x, %w {qt.scope = "a"} : tensor<?x4xbf16>, tensor<4x4xbf16> -> tensor<?x4xbf16>
  %w2 = qt.read @w : tensor<4x4xbf16>
  %b = qt.linear %x, %w2 {qt.scope = "b"} : tensor<?x4xbf16>, tensor<4x4xbf16> -> tensor<?x4xbf16>
  %y = qt.swiglu %a, %b : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<?x4xbf16>
  %h = qt.read @head : tensor<8x4xbf16>
  %loss = qt.linear_cross_entropy %y, %h, %labels : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<?xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
// CHECK-LABEL: func.func @step
// CHECK: %[[A:.*]], %[[B:.*]] = qt.swiglu_grad
// CHECK: %[[DXB:.*]] = qt.linear_input_grad %[[B]], %{{.*}} {qt.scope = "b"}
// CHECK: %[[DWB:.*]] = qt.linear_weight_grad %[[B]], %{{.*}} {qt.scope = "b"} : {{.*}} -> tensor<4x4xf32>
// CHECK: %[[DXA:.*]] = qt.linear_input_grad %[[A]], %{{.*}} {qt.scope = "a"}
// CHECK: %[[DWA:.*]] = qt.linear_weight_grad %[[A]], %{{.*}} {qt.scope = "a"} : {{.*}} -> tensor<4x4xf32>
// CHECK: %[[DW:.*]] = qt.add %[[DWB]], %[[DWA]] {qt.scope = "a"} : tensor<4x4xf32>
// CHECK: %[[DX:.*]] = qt.add %[[DXB]], %[[DXA]] {qt.scope = "a"} : tensor<?x4xbf16>
// CHECK: qt.embedding_grad %{{.*}}, %{{.*}}, %{{.*}}, %[[DX]]
// CHECK: qt.watch gradient %[[DW]] as "w"
// CHECK-LABEL: func.func @accumulate

// -----

// Nothing is differentiated that does not lead to a trained parameter: neither the frozen head nor the embedding.
qt.parameter @embed : tensor<8x4xbf16> frozen init <zeros> names ["embed"]
qt.parameter @w : tensor<4x4xbf16> init <zeros> names ["w"]
func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                 %docs: !qt.segments {qt.argument = #qt.argument<segments>})
    -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<model>} {
  %e = qt.read @embed : tensor<8x4xbf16>
  %x = qt.embedding %docs, %ids, %e : (!qt.segments, tensor<?xi32>, tensor<8x4xbf16>) -> tensor<?x4xbf16>
  %w = qt.read @w : tensor<4x4xbf16>
  %y = qt.linear %x, %w : tensor<?x4xbf16>, tensor<4x4xbf16> -> tensor<?x4xbf16>
  %loss = qt.linear_cross_entropy %y, %e, %labels : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<?xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
// CHECK-LABEL: func.func @step
// CHECK-NOT: qt.linear_input_grad
// CHECK-NOT: qt.embedding_grad
// CHECK: %[[LOSS:.*]], %[[DX:.*]] = qt.linear_cross_entropy_grad {{.*}} -> (tensor<f32>, tensor<?x4xbf16>)
// CHECK-NEXT: %[[DW:.*]] = qt.linear_weight_grad %[[DX]],
// CHECK-NEXT: qt.watch gradient %[[DW]] as "w"
// CHECK-NEXT: qt.global_norm %[[DW]] {
// CHECK-NOT: qt.update @embed
// CHECK-LABEL: func.func @accumulate

// -----

// A part that nothing reads has a cotangent of zeros. A loss that is read before it is returned keeps its op; its seed goes through what reads it.
qt.parameter @w : tensor<6x4xf32> init <zeros> names ["w"]
qt.parameter @head : tensor<8x4xf32> init <zeros> names ["head"]
qt.parameter @embed : tensor<8x4xf32> frozen init <zeros> names ["embed"]
func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                 %docs: !qt.segments {qt.argument = #qt.argument<segments>})
    -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<model>} {
  %e = qt.read @embed : tensor<8x4xf32>
  %x = qt.embedding %docs, %ids, %e : (!qt.segments, tensor<?xi32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %w = qt.read @w : tensor<6x4xf32>
  %in = qt.linear %x, %w : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
  %unused, %y = qt.split %in dim 1 : tensor<?x6xf32> -> tensor<?x2xf32>, tensor<?x4xf32>
  %h = qt.read @head : tensor<8x4xf32>
  %loss = qt.linear_cross_entropy %y, %h, %labels : (tensor<?x4xf32>, tensor<8x4xf32>, tensor<?xi32>) -> tensor<f32>
  %twice = qt.scale %loss by 2.0 : tensor<f32>
  return %twice : tensor<f32>
}
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[INVERSE:[a-z0-9]+]]: tensor<f32> {qt.argument = #qt.argument<inverse_tokens>}
// CHECK: %[[LOSS:.*]] = qt.linear_cross_entropy %
// CHECK: %[[TWICE:.*]] = qt.scale %[[LOSS]] by 2.000000e+00
// CHECK: %[[SEED:.*]] = qt.scale %[[INVERSE]] by 2.000000e+00
// CHECK: %{{.*}}, %[[DY:.*]], %{{.*}} = qt.linear_cross_entropy_grad {{.*}} dloss %[[SEED]]
// CHECK: %[[ZEROS:.*]] = qt.zeros : tensor<?x2xf32>
// CHECK: %[[DIN:.*]] = qt.join %[[ZEROS]], %[[DY]] dim 1
// CHECK: qt.linear_weight_grad %[[DIN]], %{{.*}} -> tensor<6x4xf32>
// CHECK: return %[[TWICE]],
// CHECK-LABEL: func.func @eval
// The loss of each row is not known where the loss is more than their sum.
// CHECK-SAME: -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes
