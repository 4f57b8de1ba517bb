// A rope that is not formed is explained once, at the attention that reads it or at the rope itself.
// RUN: qcc-opt %s --form-qk-norm-rope --remarks-filter-missed=form --split-input-file --verify-diagnostics | FileCheck %s --implicit-check-not=qt.qk_norm_rope

// CHECK-LABEL: func @no_rope
func.func @no_rope(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %w: tensor<8xf32>) -> tensor<?x2x8xf32> {
  %qn = qt.rms_norm %q, %w eps 1.0e-6 : (tensor<?x2x8xf32>, tensor<8xf32>) -> tensor<?x2x8xf32>
  %kn = qt.rms_norm %k, %w eps 1.0e-6 : (tensor<?x2x8xf32>, tensor<8xf32>) -> tensor<?x2x8xf32>
  %y = qt.attention %docs, %qn, %kn, %v scale 0.5 : (!qt.segments, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  return %y : tensor<?x2x8xf32>
}

// -----

// CHECK-LABEL: func @keys_without
func.func @keys_without(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %w: tensor<8xf32>) -> tensor<?x2x8xf32> {
  %qn = qt.rms_norm %q, %w eps 1.0e-6 : (tensor<?x2x8xf32>, tensor<8xf32>) -> tensor<?x2x8xf32>
  %qr = qt.rope %docs, %qn theta 1.0e4 dims 4 : !qt.segments, tensor<?x2x8xf32>
  // expected-remark @below {{expected the keys to come from qt.rope; got argument 2}}
  %y = qt.attention %docs, %qr, %k, %v scale 0.5 : (!qt.segments, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  return %y : tensor<?x2x8xf32>
}

// -----

// CHECK-LABEL: func @queries_without
func.func @queries_without(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %w: tensor<8xf32>) -> tensor<?x2x8xf32> {
  %kn = qt.rms_norm %k, %w eps 1.0e-6 : (tensor<?x2x8xf32>, tensor<8xf32>) -> tensor<?x2x8xf32>
  %kr = qt.rope %docs, %kn theta 1.0e4 dims 4 : !qt.segments, tensor<?x2x8xf32>
  // expected-remark @below {{expected the queries to come from qt.rope; got argument 1}}
  %y = qt.attention %docs, %q, %kr, %v scale 0.5 : (!qt.segments, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  return %y : tensor<?x2x8xf32>
}

// -----

// CHECK-LABEL: func @not_normed
func.func @not_normed(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %w: tensor<8xf32>) -> tensor<?x2x8xf32> {
  %qr = qt.rope %docs, %q theta 1.0e4 dims 4 : !qt.segments, tensor<?x2x8xf32>
  %kn = qt.rms_norm %k, %w eps 1.0e-6 : (tensor<?x2x8xf32>, tensor<8xf32>) -> tensor<?x2x8xf32>
  %kr = qt.rope %docs, %kn theta 1.0e4 dims 4 : !qt.segments, tensor<?x2x8xf32>
  // expected-remark @below {{expected qt.rope of normed queries; got of argument 1}}
  %y = qt.attention %docs, %qr, %kr, %v scale 0.5 : (!qt.segments, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  return %y : tensor<?x2x8xf32>
}

// -----

// CHECK-LABEL: func @other_theta
func.func @other_theta(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %w: tensor<8xf32>) -> tensor<?x2x8xf32> {
  %qn = qt.rms_norm %q, %w eps 1.0e-6 : (tensor<?x2x8xf32>, tensor<8xf32>) -> tensor<?x2x8xf32>
  %qr = qt.rope %docs, %qn theta 1.0e5 dims 4 : !qt.segments, tensor<?x2x8xf32>
  %kn = qt.rms_norm %k, %w eps 1.0e-6 : (tensor<?x2x8xf32>, tensor<8xf32>) -> tensor<?x2x8xf32>
  %kr = qt.rope %docs, %kn theta 1.0e4 dims 4 : !qt.segments, tensor<?x2x8xf32>
  // expected-remark @below {{expected one rotary embedding of queries and keys; got different ones}}
  %y = qt.attention %docs, %qr, %kr, %v scale 0.5 : (!qt.segments, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  return %y : tensor<?x2x8xf32>
}

// -----

// CHECK-LABEL: func @other_eps
func.func @other_eps(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %w: tensor<8xf32>) -> tensor<?x2x8xf32> {
  %qn = qt.rms_norm %q, %w eps 1.0e-5 : (tensor<?x2x8xf32>, tensor<8xf32>) -> tensor<?x2x8xf32>
  %qr = qt.rope %docs, %qn theta 1.0e4 dims 4 : !qt.segments, tensor<?x2x8xf32>
  %kn = qt.rms_norm %k, %w eps 1.0e-6 : (tensor<?x2x8xf32>, tensor<8xf32>) -> tensor<?x2x8xf32>
  %kr = qt.rope %docs, %kn theta 1.0e4 dims 4 : !qt.segments, tensor<?x2x8xf32>
  // expected-remark @below {{expected one eps of the norms of queries and keys; got different ones}}
  %y = qt.attention %docs, %qr, %kr, %v scale 0.5 : (!qt.segments, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  return %y : tensor<?x2x8xf32>
}

// -----

// CHECK-LABEL: func @no_attention
func.func @no_attention(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %w: tensor<8xf32>) -> tensor<?x2x8xf32> {
  %qn = qt.rms_norm %q, %w eps 1.0e-6 : (tensor<?x2x8xf32>, tensor<8xf32>) -> tensor<?x2x8xf32>
  // expected-remark @below {{expected qt.attention to read it as queries or keys}}
  %y = qt.rope %docs, %qn theta 1.0e4 dims 4 : !qt.segments, tensor<?x2x8xf32>
  return %y : tensor<?x2x8xf32>
}
