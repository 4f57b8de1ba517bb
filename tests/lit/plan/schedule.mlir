// RUN: qcc-opt %s --lower-to-step --verify-planned | FileCheck %s

// Program order, except for what waits until it is needed.

qt.parameter @w : tensor<16x16xf32> init <zeros> names ["w"]
qt.parameter @norm : tensor<16xf32> init <zeros> names ["norm"]

// What is computed again from behind a barrier waits for its reader, however early it stands; it depends on the backward value that the barrier names.
// CHECK-LABEL: step.entry @again.program
// CHECK: step.launch rms_norm(read %w, read %norm, write %[[Y:.*]], none) {{.*}}{qt.scope = "forward"}
// CHECK-NEXT: %{{.*}} = step.transient
// CHECK-NEXT: step.gemm {{.*}}{qt.scope = "product"}
// CHECK: step.gemm {{.*}}{qt.scope = "backward"}
// CHECK: step.gemm {{.*}}{qt.scope = "between"}
// CHECK: step.launch rms_norm(read %w, read %norm, write %[[AGAIN:.*]], none) {{.*}}{qt.scope = "again"}
// CHECK: step.gemm {{.*}}read %[[AGAIN]] {qt.scope = "reader"}
func.func @again() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<16x16xf32>
  %norm = qt.read @norm : tensor<16xf32>
  %y = qt.rms_norm %w, %norm eps 0.5 {qt.scope = "forward"} : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16x16xf32>
  %p = qt.linear %y, %w {qt.scope = "product"} : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %b = qt.linear_input_grad %p, %w {qt.scope = "backward"} : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %saved = qt.barrier %w after %b : tensor<16x16xf32>, tensor<16x16xf32>
  %again = qt.rms_norm %saved, %norm eps 0.5 {qt.scope = "again"} : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16x16xf32>
  %between = qt.linear_input_grad %b, %w {qt.scope = "between"} : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %g = qt.linear_weight_grad %between, %again {qt.scope = "reader"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %n = qt.global_norm %g : (tensor<16x16xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// Without a barrier the same op runs where it stands.
// CHECK-LABEL: step.entry @once.program
// CHECK: step.launch rms_norm{{.*}}{qt.scope = "once"}
// CHECK: step.gemm {{.*}}{qt.scope = "between"}
// CHECK: step.gemm {{.*}}{qt.scope = "reader"}
func.func @once() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<16x16xf32>
  %norm = qt.read @norm : tensor<16xf32>
  %again = qt.rms_norm %w, %norm eps 0.5 {qt.scope = "once"} : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16x16xf32>
  %between = qt.linear_input_grad %w, %w {qt.scope = "between"} : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %g = qt.linear_weight_grad %between, %again {qt.scope = "reader"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %n = qt.global_norm %g : (tensor<16x16xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// Zeros wait for their reader; an op without uses does not run at all; a watch of a view follows the instruction that wrote the elements.
// CHECK-LABEL: step.entry @late.program
// CHECK-NOT: unused
// CHECK: step.launch swiglu
// CHECK-NEXT: step.slice
// CHECK-NEXT: step.watch %v as "heads" : memref<16x4x4xf32>
// CHECK: step.gemm
// CHECK: step.fill
// CHECK: step.launch global_norm
func.func @late() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %zeros = qt.zeros : tensor<16x16xf32>
  %w = qt.read @w : tensor<16x16xf32>
  %s = qt.swiglu %w, %w : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %unused = qt.swiglu %s, %w {qt.scope = "unused"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p = qt.linear %s, %w : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %heads = qt.reshape %s : tensor<16x16xf32> -> tensor<16x4x4xf32>
  qt.watch %heads as "heads" : tensor<16x4x4xf32>
  %n = qt.global_norm %p, %zeros : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<f32>
  return %n : tensor<f32>
}
