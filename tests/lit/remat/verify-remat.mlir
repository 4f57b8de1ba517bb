// What is computed again waits for the backward pass, which is what depends on 1/N.
// RUN: qcc-opt %s --split-input-file --verify-remat --verify-diagnostics

!docs = !qt.segments<32, 2, 16, 32>
func.func @step(%docs: !docs {qt.argument = #qt.argument<segments>}, %n: tensor<f32> {qt.argument = #qt.argument<inverse_tokens>}, %x: tensor<32x4xf32>)
    -> tensor<32x4xf32> attributes {qt.entry = #qt.entry<step>} {
  %y = qt.swiglu %x, %x : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
  %first = qt.barrier %x after %n : tensor<32x4xf32>, tensor<f32>
  %seed = qt.scale %n by 2.0 : tensor<f32>
  %second = qt.barrier %y after %seed : tensor<32x4xf32>, tensor<f32>
  return %second : tensor<32x4xf32>
}

// -----

func.func @step(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %n: tensor<f32> {qt.argument = #qt.argument<inverse_tokens>}, %x: tensor<32x4xf32>)
    attributes {qt.entry = #qt.entry<step>} {
  %y = qt.exp %x : tensor<32x4xf32>
  // expected-error @below {{'qt.barrier' op expected to wait for a value of the backward pass, got one of the forward pass}}
  %b = qt.barrier %x after %y : tensor<32x4xf32>, tensor<32x4xf32>
  return
}

// -----

func.func @step(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %n: tensor<f32> {qt.argument = #qt.argument<inverse_tokens>}, %x: tensor<32x4xf32>)
    attributes {qt.entry = #qt.entry<step>} {
  // expected-error @below {{'qt.barrier' op expected to wait for a value of the backward pass, got one of the forward pass}}
  %b = qt.barrier %x after %x : tensor<32x4xf32>, tensor<32x4xf32>
  return
}

// -----

func.func @accumulate(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %n: tensor<f32> {qt.argument = #qt.argument<inverse_tokens>})
    attributes {qt.entry = #qt.entry<accumulate>} {
  %seed = qt.scale %n by 2.0 : tensor<f32>
  // expected-error @below {{'qt.barrier' op expected to hold back a value of the forward pass, got one of the backward pass}}
  %b = qt.barrier %seed after %n : tensor<f32>, tensor<f32>
  return
}

// -----

func.func @eval(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %x: tensor<32x4xf32>) attributes {qt.entry = #qt.entry<eval>} {
  // expected-error @below {{'qt.barrier' op expected barriers in functions with a backward pass only, got one in @eval}}
  %b = qt.barrier %x after %x : tensor<32x4xf32>, tensor<32x4xf32>
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
