// RUN: qcc-opt %s --lower-to-step --verify-planned | FileCheck %s

// The gradients of an input that two products read are added in place; where the first term is needed later, in a copy of it.

qt.parameter @u : tensor<8x8xf32> init <zeros> names ["u"]
qt.parameter @v : tensor<8x8xf32> init <zeros> names ["v"]
// CHECK: step.entry @apply.program
func.func @apply() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %u = qt.read @u : tensor<8x8xf32>
  %v = qt.read @v : tensor<8x8xf32>
  // CHECK: step.gemm write %[[X:t.*]], read %u, read %v
  %x = qt.linear_input_grad %u, %v : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: step.gemm write %[[Y:t.*]], read %v, read %u
  %y = qt.linear_input_grad %v, %u : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: step.launch add(inout %[[X]], read %[[Y]])
  %sum = qt.add %x, %y : tensor<8x8xf32>, tensor<8x8xf32>
  // CHECK: step.copy write %[[COPY:t.*]], read %[[Y]]
  // CHECK: step.launch add(inout %[[COPY]], read %[[X]])
  %again = qt.add %y, %sum : tensor<8x8xf32>, tensor<8x8xf32>
  // CHECK: step.launch global_norm(write %{{.*}}, read %[[COPY]], read %[[Y]])
  %n = qt.global_norm %again, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<f32>
  return %n : tensor<f32>
}
