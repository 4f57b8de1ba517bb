// The exit contract of the phase fused: what has no kernel is an error at its op.
// RUN: qcc-opt %s --split-input-file --verify-fused --verify-diagnostics

!docs = !qt.segments<32, 2, 16, 32>
qt.parameter @w : tensor<8x4xf32> init <zeros> names ["w"]
func.func @step(%docs: !docs {qt.argument = #qt.argument<segments>}, %x: tensor<32x4xf32>) -> tensor<32x2x4xf32> attributes {qt.entry = #qt.entry<step>} {
  %w = qt.read @w : tensor<8x4xf32>
  %y = qt.linear %x, %w : tensor<32x4xf32>, tensor<8x4xf32> -> tensor<32x8xf32>
  %zeros = qt.zeros : tensor<32x4xf32>
  %parts:2 = qt.split %y dim 1 : tensor<32x8xf32> -> tensor<32x4xf32>, tensor<32x4xf32>
  %z = qt.swiglu %parts#0, %zeros : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
  %j = qt.join %parts#1, %z dim 1 : tensor<32x4xf32>, tensor<32x4xf32> -> tensor<32x8xf32>
  %b = qt.barrier %j after %x : tensor<32x8xf32>, tensor<32x4xf32>
  %dx = qt.linear_input_grad %b, %w : tensor<32x8xf32>, tensor<8x4xf32> -> tensor<32x4xf32>
  %dw = qt.linear_weight_grad %b, %x : (tensor<32x8xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %sum = qt.add %dx, %zeros : tensor<32x4xf32>, tensor<32x4xf32>
  qt.watch %sum as "hidden.0" : tensor<32x4xf32>
  qt.update @w, %dw : tensor<8x4xf32>
  %r = qt.reshape %b : tensor<32x8xf32> -> tensor<32x2x4xf32>
  return %r : tensor<32x2x4xf32>
}
// A function for any row is not looked at.
func.func @any(%docs: !qt.segments {qt.argument = #qt.argument<segments>}, %x: tensor<?x4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %y = qt.exp %x : tensor<?x4xf32>
  return
}

// -----

func.func @eval(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %x: tensor<32x4xf32>) attributes {qt.entry = #qt.entry<eval>} {
  // expected-error @below {{'qt.mul' op expected compounds, clusters, linear ops and views alone, got an op that no kernel computes}}
  %y = qt.mul %x, %x : tensor<32x4xf32>, tensor<32x4xf32>
  // expected-error @below {{'qt.softmax' op expected compounds, clusters, linear ops and views alone, got an op that no kernel computes}}
  %z = qt.softmax %y : tensor<32x4xf32>
  return
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
func.func @apply(%x: tensor<4xf32>) attributes {qt.entry = #qt.entry<apply>} {
  // expected-note @below {{updated here}}
  qt.update @w, %x : tensor<4xf32>
  // expected-error @below {{'qt.read' op expected all reads of @w before its update}}
  %w = qt.read @w : tensor<4xf32>
  return
}
