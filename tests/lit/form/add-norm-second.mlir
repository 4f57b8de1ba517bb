// A sum has one norm in it: a second one is explained.
// RUN: qcc-opt %s --form-add-norm --remarks-filter-missed=form --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @two_norms
func.func @two_norms(%x: tensor<?x8xf32>, %w: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %sum = qt.add %x, %x : tensor<?x8xf32>, tensor<?x8xf32>
  // CHECK: %[[SUM:.*]], %[[Y:.*]] = qt.add_rms_norm
  %y = qt.rms_norm %sum, %w eps 1.0e-6 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK: qt.rms_norm %[[SUM]]
  // expected-remark @below {{expected one norm of a sum; got a second one}}
  %z = qt.rms_norm %sum, %w eps 1.0e-5 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}
