// Every plain norm promises a gated one.
// RUN: qcc-opt %s --form-gated-norm --remarks-filter-missed=form --split-input-file --verify-diagnostics | FileCheck %s --implicit-check-not=qt.gated_rms_norm

// CHECK-LABEL: func @alone
func.func @alone(%o: tensor<?x2x8xf32>, %w: tensor<8xf32>) -> tensor<?x2x8xf32> {
  // expected-remark @below {{expected one product with the norm; got func.return}}
  %n = qt.plain_rms_norm %o, %w eps 1.0e-6 : tensor<?x2x8xf32>, tensor<8xf32> -> tensor<?x2x8xf32>
  return %n : tensor<?x2x8xf32>
}

// -----

// CHECK-LABEL: func @read_twice
func.func @read_twice(%o: tensor<?x2x8xf32>, %z: tensor<?x2x8xf32>, %w: tensor<8xf32>) -> (tensor<?x2x8xf32>, tensor<?x2x8xf32>) {
  %s = qt.silu %z : tensor<?x2x8xf32>
  // expected-remark @below {{expected one product with the norm; got 2 readers}}
  %n = qt.plain_rms_norm %o, %w eps 1.0e-6 : tensor<?x2x8xf32>, tensor<8xf32> -> tensor<?x2x8xf32>
  %y = qt.mul %s, %n : tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %y, %n : tensor<?x2x8xf32>, tensor<?x2x8xf32>
}

// -----

// CHECK-LABEL: func @sigmoid_gate
func.func @sigmoid_gate(%o: tensor<?x2x8xf32>, %z: tensor<?x2x8xf32>, %w: tensor<8xf32>) -> tensor<?x2x8xf32> {
  %s = qt.sigmoid %z : tensor<?x2x8xf32>
  // expected-remark @below {{expected the norm times a silu; got times qt.sigmoid}}
  %n = qt.plain_rms_norm %o, %w eps 1.0e-6 : tensor<?x2x8xf32>, tensor<8xf32> -> tensor<?x2x8xf32>
  %y = qt.mul %s, %n : tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %y : tensor<?x2x8xf32>
}

// -----

// CHECK-LABEL: func @gate_type
func.func @gate_type(%o: tensor<?x2x8xbf16>, %z: tensor<?x2x8xf32>, %w: tensor<8xf32>) -> tensor<?x2x8xbf16> {
  %s = qt.silu %z : tensor<?x2x8xf32>
  // expected-remark @below {{expected a gate of the normed tensor's type; got argument 1}}
  %n = qt.plain_rms_norm %o, %w eps 1.0e-6 : tensor<?x2x8xbf16>, tensor<8xf32> -> tensor<?x2x8xbf16>
  %nf = qt.cast %n : tensor<?x2x8xbf16> -> tensor<?x2x8xf32>
  %p = qt.mul %s, %nf : tensor<?x2x8xf32>, tensor<?x2x8xf32>
  %y = qt.cast %p : tensor<?x2x8xf32> -> tensor<?x2x8xbf16>
  return %y : tensor<?x2x8xbf16>
}

// -----

// CHECK-LABEL: func @wide_result
func.func @wide_result(%o: tensor<?x2x8xbf16>, %z: tensor<?x2x8xbf16>, %w: tensor<8xf32>) -> tensor<?x2x8xf32> {
  %zf = qt.cast %z : tensor<?x2x8xbf16> -> tensor<?x2x8xf32>
  %s = qt.silu %zf : tensor<?x2x8xf32>
  // expected-remark @below {{expected the product in the normed tensor's element type}}
  %n = qt.plain_rms_norm %o, %w eps 1.0e-6 : tensor<?x2x8xbf16>, tensor<8xf32> -> tensor<?x2x8xbf16>
  %nf = qt.cast %n : tensor<?x2x8xbf16> -> tensor<?x2x8xf32>
  %p = qt.mul %s, %nf : tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %p : tensor<?x2x8xf32>
}
