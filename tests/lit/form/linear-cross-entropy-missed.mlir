// Every cross-entropy promises one with its linear op.
// RUN: qcc-opt %s --form-linear-cross-entropy --remarks-filter-missed=form --split-input-file --verify-diagnostics | FileCheck %s --implicit-check-not=qt.linear_cross_entropy --implicit-check-not=qt.gather_rows

// CHECK-LABEL: func @no_linear
func.func @no_linear(%labels: tensor<?xi32>, %docs: !qt.segments, %x: tensor<?x32xf32>) -> tensor<f32> {
  // expected-remark @below {{expected the logits of a qt.linear; got argument 2}}
  %loss = qt.cross_entropy %x, %labels : tensor<?x32xf32>, tensor<?xi32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// CHECK-LABEL: func @logits_read
func.func @logits_read(%labels: tensor<?xi32>, %docs: !qt.segments, %x: tensor<?x8xf32>, %w: tensor<32x8xf32>) -> (tensor<f32>, tensor<?x32xf32>) {
  %logits = qt.linear %x, %w : tensor<?x8xf32>, tensor<32x8xf32> -> tensor<?x32xf32>
  // expected-remark @below {{expected the loss alone to read the logits; got other readers}}
  %loss = qt.cross_entropy %logits, %labels : tensor<?x32xf32>, tensor<?xi32> -> tensor<f32>
  return %loss, %logits : tensor<f32>, tensor<?x32xf32>
}

// -----

// CHECK-LABEL: func @no_documents
func.func @no_documents(%labels: tensor<?xi32>, %x: tensor<?x8xf32>, %w: tensor<32x8xf32>) -> tensor<f32> {
  %logits = qt.linear %x, %w : tensor<?x8xf32>, tensor<32x8xf32> -> tensor<?x32xf32>
  // expected-remark @below {{expected one !qt.segments argument of the function; got 0}}
  %loss = qt.cross_entropy %logits, %labels : tensor<?x32xf32>, tensor<?xi32> -> tensor<f32>
  return %loss : tensor<f32>
}
