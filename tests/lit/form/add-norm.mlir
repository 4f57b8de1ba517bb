// The sum goes on as the residual stream: both results of the compound are read.
// RUN: qcc-opt %s --form-add-norm | FileCheck %s --implicit-check-not="qt.add " --implicit-check-not="qt.rms_norm "

// CHECK-LABEL: func @residual
// CHECK-SAME:  (%[[X:.*]]: tensor<?x8xf32>, %[[D:.*]]: tensor<?x8xf32>)
func.func @residual(%x: tensor<?x8xf32>, %delta: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // The norm's weight moves up to the sum, the watch stays behind it.
  // CHECK: %[[W:.*]] = qt.read @w
  // CHECK: %[[SUM:.*]], %[[Y:.*]] = qt.add_rms_norm %[[X]], %[[D]], %[[W]] eps 9.9999999999999995E-7 {qt.scope = "layers.1.input_layernorm"}
  // CHECK: qt.watch %[[SUM]] as "hidden.1"
  // CHECK: return %[[SUM]], %[[Y]]
  %sum = qt.add %x, %delta {qt.scope = "layers.0.mlp"} : tensor<?x8xf32>, tensor<?x8xf32>
  qt.watch %sum as "hidden.1" : tensor<?x8xf32>
  %w = qt.read @w : tensor<8xf32>
  %y = qt.rms_norm %sum, %w eps 1.0e-6 {qt.scope = "layers.1.input_layernorm"} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %sum, %y : tensor<?x8xf32>, tensor<?x8xf32>
}
qt.parameter @w : tensor<8xf32> init <zeros> names ["w"]
