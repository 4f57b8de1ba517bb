// RUN: qcc-opt %s --lower-to-step --verify-planned | FileCheck %s

// What an op overwrites is overwritten where it lies if nobody needs it afterwards, and in a copy if somebody does.

qt.parameter @w : tensor<16x16xf32> init <zeros> names ["w"]
qt.parameter @v : tensor<16x16xf32> init <zeros> names ["v"]
qt.state @w.gradient gradient of @w : tensor<16x16xf32>

// CHECK-LABEL: step.entry @chain.program
// CHECK: step.gemm write %[[D:t.*]], read transpose %w, read %v
// CHECK-NEXT: step.gemm inout %[[D]], read transpose %v, read %w
func.func @chain() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<16x16xf32>
  %v = qt.read @v : tensor<16x16xf32>
  %0 = qt.linear_weight_grad %w, %v : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = qt.linear_weight_grad %v, %w into %0 : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %n = qt.global_norm %1 : (tensor<16x16xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// The sum's first part is read again, also through a view: a copy.
// CHECK-LABEL: step.entry @needed.program
// CHECK: step.gemm write %[[D:t.*]], read transpose
// CHECK: step.copy write %[[C:t.*]], read %[[D]]
// CHECK-NEXT: step.gemm inout %[[C]],
// CHECK: step.launch global_norm(write %grad_norm, read %[[C]], read %{{.*}})
func.func @needed() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<16x16xf32>
  %v = qt.read @v : tensor<16x16xf32>
  %0 = qt.linear_weight_grad %w, %v : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = qt.linear_weight_grad %v, %w into %0 : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %flat = qt.reshape %0 : tensor<16x16xf32> -> tensor<256xf32>
  %n = qt.global_norm %1, %flat : (tensor<16x16xf32>, tensor<256xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// The op itself reads what it overwrites: a copy.
// CHECK-LABEL: step.entry @itself.program
// CHECK: step.copy write %[[C:t.*]], read %[[D:t.*]] :
// CHECK-NEXT: step.gemm inout %[[C]], read transpose %[[D]], read %w
func.func @itself() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<16x16xf32>
  %0 = qt.swiglu %w, %w : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = qt.linear_weight_grad %0, %w into %0 : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %n = qt.global_norm %1 : (tensor<16x16xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// Accumulated gradients are added to where they lie.
// CHECK-LABEL: step.entry @accumulate.16 accumulate
// CHECK-NOT: step.copy
// CHECK: step.gemm inout %w.gradient, read transpose %w, read %v
// CHECK-NEXT: step.gemm inout %w.gradient, read transpose %v, read %w
// CHECK: step.launch linear_cross_entropy
func.func @accumulate.16(%labels: tensor<16xi32> {qt.argument = #qt.argument<labels>},
                         %docs: !qt.segments<16, 1, 16, 16> {qt.argument = #qt.argument<segments>})
    -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<accumulate>} {
  %w = qt.read @w : tensor<16x16xf32>
  %v = qt.read @v : tensor<16x16xf32>
  %g = qt.read @w.gradient : tensor<16x16xf32>
  %0 = qt.linear_weight_grad %w, %v into %g : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = qt.linear_weight_grad %v, %w into %0 : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  qt.update @w.gradient, %1 : tensor<16x16xf32>
  %loss = qt.linear_cross_entropy %w, %v, %labels : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// A state that is not updated keeps its value: a copy.
// CHECK-LABEL: step.entry @kept.program
// CHECK: step.copy write %[[G:t.*]], read %w.gradient
// CHECK: step.gemm inout %[[G]], read transpose %w, read %v
// CHECK: step.launch global_norm(write %grad_norm, read %[[G]])
func.func @kept() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<16x16xf32>
  %v = qt.read @v : tensor<16x16xf32>
  %g = qt.read @w.gradient : tensor<16x16xf32>
  %1 = qt.linear_weight_grad %w, %v into %g : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %n = qt.global_norm %1 : (tensor<16x16xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// A state that a later op reads at its old value is overwritten at the end.
// CHECK-LABEL: step.entry @read_later.program
// CHECK: step.copy write %[[G:t.*]], read %w.gradient
// CHECK: step.gemm inout %[[G]], read transpose %w, read %v
// CHECK: step.gemm write %{{.*}}, read transpose %w.gradient, read %[[G]]
// CHECK: step.copy write %w.gradient, read %[[G]]
func.func @read_later() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<16x16xf32>
  %v = qt.read @v : tensor<16x16xf32>
  %n = qt.global_norm %w : (tensor<16x16xf32>) -> tensor<f32>
  %g = qt.read @w.gradient : tensor<16x16xf32>
  %1 = qt.linear_weight_grad %w, %v into %g : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = qt.linear_weight_grad %g, %1 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  qt.watch %2 as "product" : tensor<16x16xf32>
  qt.update @w.gradient, %1 : tensor<16x16xf32>
  return %n : tensor<f32>
}

// The new value is read too: the state keeps its old one until the end.
// CHECK-LABEL: step.entry @new_read.program
// CHECK: step.copy write %[[G:t.*]], read %w.gradient
// CHECK: step.gemm inout %[[G]], read transpose %w, read %v
// CHECK: step.launch global_norm(write %grad_norm, read %[[G]])
// CHECK-NEXT: step.copy write %w.gradient, read %[[G]]
func.func @new_read() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<16x16xf32>
  %v = qt.read @v : tensor<16x16xf32>
  %g = qt.read @w.gradient : tensor<16x16xf32>
  %1 = qt.linear_weight_grad %w, %v into %g : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %n = qt.global_norm %1 : (tensor<16x16xf32>) -> tensor<f32>
  qt.update @w.gradient, %1 : tensor<16x16xf32>
  return %n : tensor<f32>
}

// The same where the new value is made without the old.
// CHECK-LABEL: step.entry @new_written.program
// CHECK: step.launch swiglu(read %w, read %w, write %[[V:t.*]])
// CHECK: step.launch global_norm(write %grad_norm, read %[[V]])
// CHECK: step.copy write %v, read %[[V]]
func.func @new_written() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<16x16xf32>
  %x = qt.swiglu %w, %w : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %n = qt.global_norm %x : (tensor<16x16xf32>) -> tensor<f32>
  qt.update @v, %x : tensor<16x16xf32>
  return %n : tensor<f32>
}

// An update is written straight to its state once nobody reads that any more; until then it waits in a buffer of its own.
// CHECK-LABEL: step.entry @update.program
// CHECK: step.launch swiglu(read %w, read %w, write %[[LATE:t.*]])
// CHECK: step.launch swiglu(read %w, read %[[LATE]], write %v)
// CHECK-NEXT: step.copy write %w, read %[[LATE]]
func.func @update() attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<16x16xf32>
  %late = qt.swiglu %w, %w : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %direct = qt.swiglu %w, %late : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  qt.update @w, %late : tensor<16x16xf32>
  qt.update @v, %direct : tensor<16x16xf32>
  return
}

// Two states change places: each is saved before either is written.
// CHECK-LABEL: step.entry @swap.program
// CHECK: step.copy write %[[V:t.*]], read %v
// CHECK: step.copy write %[[W:t.*]], read %w
// CHECK: step.copy write %w, read %[[V]]
// CHECK: step.copy write %v, read %[[W]]
func.func @swap() attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<16x16xf32>
  %v = qt.read @v : tensor<16x16xf32>
  qt.update @w, %v : tensor<16x16xf32>
  qt.update @v, %w : tensor<16x16xf32>
  return
}

// What the host gave is never overwritten, and what it gets is written once: the same value twice is a copy.
// CHECK-LABEL: step.entry @returned.16 step
// CHECK: step.launch global_norm(write %loss, read %w)
// CHECK-NEXT: step.copy write %grad_norm, read %loss
func.func @returned.16(%docs: !qt.segments<16, 1, 16, 16> {qt.argument = #qt.argument<segments>})
    -> (tensor<f32> {qt.result = #qt.result<loss>}, tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<step>} {
  %w = qt.read @w : tensor<16x16xf32>
  %n = qt.global_norm %w : (tensor<16x16xf32>) -> tensor<f32>
  return %n, %n : tensor<f32>, tensor<f32>
}
