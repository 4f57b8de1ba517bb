// A norm of a sum that is not formed is explained once; a norm of anything else promised nothing.
// RUN: qcc-opt %s --form-add-norm --remarks-filter-missed=form --split-input-file --verify-diagnostics | FileCheck %s --implicit-check-not=qt.add_rms_norm

// CHECK-LABEL: func @no_sum
func.func @no_sum(%x: tensor<?x8xf32>, %w: tensor<8xf32>) -> tensor<?x8xf32> {
  %y = qt.rms_norm %x, %w eps 1.0e-6 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func @cast_between
func.func @cast_between(%x: tensor<?x8xf32>, %w: tensor<8xf32>) -> tensor<?x8xbf16> {
  %sum = qt.add %x, %x : tensor<?x8xf32>, tensor<?x8xf32>
  %cast = qt.cast %sum : tensor<?x8xf32> -> tensor<?x8xbf16>
  // expected-remark @below {{expected the norm of the sum itself; got of qt.cast}}
  %y = qt.rms_norm %cast, %w eps 1.0e-6 : (tensor<?x8xbf16>, tensor<8xf32>) -> tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}

// -----

// CHECK-LABEL: func @bias
func.func @bias(%x: tensor<?x8xf32>, %b: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<?x8xf32> {
  %sum = qt.add %x, %b : tensor<?x8xf32>, tensor<8xf32>
  // expected-remark @below {{expected a sum of two tensors of one shape; got one that repeats its right side}}
  %y = qt.rms_norm %sum, %w eps 1.0e-6 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// A weight that comes late: the sum's readers cannot wait for it.
// CHECK-LABEL: func @late_weight
func.func @late_weight(%x: tensor<?x8xf32>, %v: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %sum = qt.add %x, %x : tensor<?x8xf32>, tensor<?x8xf32>
  %read = qt.silu %sum : tensor<?x8xf32>
  %w = qt.scale %v by 2.0 : tensor<8xf32>
  // expected-remark @below {{expected nothing to read qt.add before all of its operands are known; got qt.silu}}
  %y = qt.rms_norm %sum, %w eps 1.0e-6 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %read, %y : tensor<?x8xf32>, tensor<?x8xf32>
}
