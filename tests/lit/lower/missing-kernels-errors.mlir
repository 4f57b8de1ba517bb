// RUN: qcc-opt %s --lower-to-step --split-input-file --verify-diagnostics
// RUN: not qcc-opt %s --lower-to-step="disable-kernel=swiglu" --split-input-file 2>&1 | FileCheck %s
// RUN: not qcc-opt %s --lower-to-step="target=tpu" --split-input-file 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not qcc-opt %s --lower-to-step="disable-kernel=silu" --split-input-file 2>&1 | FileCheck %s --check-prefix=NAME

// Nothing falls back: what the target cannot compute is an error at the op, with its part of the model and the reason. All of them are reported at once,
// those of a kind once.

// TARGET: for the --target option: Cannot find option named 'tpu'!
// NAME: error: expected the name of a kernel to disable, got 'silu'

qt.parameter @w : tensor<8x8xf32> init <zeros> names ["w"]
func.func @apply() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<8x8xf32>
  // expected-error@below {{no kernel for 'qt.silu' on target cpu, in layers.3.mlp: the catalog has none, and no compound op or cluster took it in}}
  %0 = qt.silu %w {qt.scope = "layers.3.mlp"} : tensor<8x8xf32>
  // expected-error@below {{no kernel for 'qt.exp' on target cpu: the catalog has none}}
  %1 = qt.exp %0 : tensor<8x8xf32>
  %n = qt.global_norm %1 : (tensor<8x8xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// -----

// The same op passes or not as the target says.

qt.parameter @w : tensor<8x8xf32> init <zeros> names ["w"]
func.func @apply() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<8x8xf32>
  // CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: no kernel for 'qt.swiglu' on target cpu, in layers.0.mlp: kernel swiglu is disabled
  %0 = qt.swiglu %w, %w {qt.scope = "layers.0.mlp"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = qt.global_norm %0 : (tensor<8x8xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// -----

// Ops of a kind are one error, at the first.

qt.parameter @w : tensor<8x8xf32> init <zeros> names ["w"]
func.func @apply() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<8x8xf32>
  // expected-error@below {{no kernel for 'qt.silu' on target cpu, in layers.0.mlp: the catalog has none}}
  %0 = qt.silu %w {qt.scope = "layers.0.mlp"} : tensor<8x8xf32>
  %1 = qt.silu %0 {qt.scope = "layers.1.mlp"} : tensor<8x8xf32>
  // expected-note@below {{and for 2 more ops, the last in layers.2.mlp}}
  %2 = qt.silu %1 {qt.scope = "layers.2.mlp"} : tensor<8x8xf32>
  // expected-error@below {{no kernel for 'qt.exp' on target cpu: the catalog has none}}
  %3 = qt.exp %2 : tensor<8x8xf32>
  // expected-note@below {{and for 1 more op}}
  %4 = qt.exp %3 : tensor<8x8xf32>
  %n = qt.global_norm %4 : (tensor<8x8xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// -----

// Two tensors of one type are added by a kernel, which repeats none of them.

qt.parameter @w : tensor<8x8xf32> init <zeros> names ["w"]
qt.parameter @b : tensor<8xf32> init <zeros> names ["b"]
func.func @apply() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<8x8xf32>
  %b = qt.read @b : tensor<8xf32>
  %0 = qt.add %w, %w : tensor<8x8xf32>, tensor<8x8xf32>
  // expected-error@below {{no kernel for 'qt.add' on target cpu: kernel add repeats no operand}}
  %1 = qt.add %0, %b : tensor<8x8xf32>, tensor<8xf32>
  %n = qt.global_norm %1 : (tensor<8x8xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// -----

qt.parameter @w : tensor<8x8xf64> init <zeros> names ["w"]
func.func @apply() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  // expected-error@below {{no kernel for 'qt.read' on target cpu: no kernel computes in f64}}
  %w = qt.read @w : tensor<8x8xf64>
  // expected-error@below {{no kernel for 'qt.global_norm' on target cpu: no kernel computes in f64}}
  %n = qt.global_norm %w : (tensor<8x8xf64>) -> tensor<f32>
  return %n : tensor<f32>
}

// -----

// expected-error@below {{expected the attribute qt.argument on argument 0}}
func.func @apply(%hyper: tensor<8xf32>) attributes {qt.entry = #qt.entry<apply>} {
  return
}

// -----

qt.parameter @w : tensor<8x8xf32> init <zeros> names ["w"]
// expected-error@below {{expected the attribute qt.result on result 0}}
func.func @apply() -> tensor<f32> attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<8x8xf32>
  %n = qt.global_norm %w : (tensor<8x8xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// -----

// expected-error@below {{expected a module that is not lowered yet, got one with a step.layout}}
module {
  step.layout state 0 gradients 0 {
  }
}
