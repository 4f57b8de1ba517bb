// Every silu that is no part of another compound promises a swiglu.
// RUN: qcc-opt %s --form-swiglu --remarks-filter-missed=form --split-input-file --verify-diagnostics | FileCheck %s --implicit-check-not=qt.swiglu

// CHECK-LABEL: func @alone
func.func @alone(%gate: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-remark @below {{expected a product with the silu; got func.return}}
  %s = qt.silu %gate : tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func @read_twice
func.func @read_twice(%gate: tensor<?x8xf32>, %up: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // expected-remark @below {{expected one product with the silu; got 2 readers}}
  %s = qt.silu %gate : tensor<?x8xf32>
  %y = qt.mul %s, %up : tensor<?x8xf32>, tensor<?x8xf32>
  return %y, %s : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func @one_factor_for_all_rows
func.func @one_factor_for_all_rows(%gate: tensor<?x8xf32>, %up: tensor<8xf32>) -> tensor<?x8xf32> {
  // expected-remark @below {{expected a factor of the gate's type; got argument 1}}
  %s = qt.silu %gate : tensor<?x8xf32>
  %y = qt.mul %s, %up : tensor<?x8xf32>, tensor<8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func @wide_result
func.func @wide_result(%gate: tensor<?x8xbf16>, %up: tensor<?x8xbf16>) -> tensor<?x8xf32> {
  %gf = qt.cast %gate : tensor<?x8xbf16> -> tensor<?x8xf32>
  %uf = qt.cast %up : tensor<?x8xbf16> -> tensor<?x8xf32>
  // expected-remark @below {{expected the product in the gate's element type}}
  %s = qt.silu %gf : tensor<?x8xf32>
  %y = qt.mul %s, %uf : tensor<?x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func @of_others
func.func @of_others(%docs: !qt.segments, %x: tensor<?x8xf32>, %w: tensor<8xf32>, %conv: tensor<8x1x4xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %c = qt.causal_conv %docs, %x, %conv : !qt.segments, tensor<?x8xf32>, tensor<8x1x4xf32>
  %s = qt.silu %c : tensor<?x8xf32>
  %n = qt.plain_rms_norm %x, %w eps 1.0e-6 : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>
  %z = qt.silu %x : tensor<?x8xf32>
  %y = qt.mul %n, %z : tensor<?x8xf32>, tensor<?x8xf32>
  return %s, %y : tensor<?x8xf32>, tensor<?x8xf32>
}
