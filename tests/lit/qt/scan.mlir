// Text and bytecode keep a scan, its body and the state's type.
// RUN: qcc-opt %s | qcc-opt | FileCheck %s
// RUN: qcc-opt %s --emit-bytecode | qcc-opt | FileCheck %s

// CHECK-LABEL: func @decay
// CHECK-SAME:  (%[[DOCS:.*]]: !qt.segments, %[[X:.*]]: tensor<?x8xf32>)
func.func @decay(%docs: !qt.segments, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK:      qt.scan %[[DOCS]], %[[X]] state tensor<8xf32> {qt.scope = "layers.0"} : !qt.segments, tensor<?x8xf32> -> tensor<?x8xf32> {
  // CHECK-NEXT: ^bb0(%[[S:.*]]: tensor<8xf32>, %[[X_T:.*]]: tensor<8xf32>):
  // CHECK-NEXT:   %[[HALF:.*]] = qt.scale %[[S]] by 5.000000e-01 : tensor<8xf32>
  // CHECK-NEXT:   %[[NEXT:.*]] = qt.add %[[HALF]], %[[X_T]] : tensor<8xf32>, tensor<8xf32>
  // CHECK-NEXT:   qt.yield %[[NEXT]], %[[NEXT]] : tensor<8xf32>, tensor<8xf32>
  %y = qt.scan %docs, %x state tensor<8xf32> {qt.scope = "layers.0"} : !qt.segments, tensor<?x8xf32> -> tensor<?x8xf32> {
  ^bb0(%s: tensor<8xf32>, %x_t: tensor<8xf32>):
    %half = qt.scale %s by 0.5 : tensor<8xf32>
    %next = qt.add %half, %x_t : tensor<8xf32>, tensor<8xf32>
    qt.yield %next, %next : tensor<8xf32>, tensor<8xf32>
  }
  return %y : tensor<?x8xf32>
}
