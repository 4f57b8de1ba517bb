// A product with an attention's result promises a gate; without a product there is none, and nothing to explain.
// RUN: qcc-opt %s --form-attention-gate --remarks-filter-missed=form --split-input-file --verify-diagnostics | FileCheck %s --implicit-check-not="gate %"

// CHECK-LABEL: func @no_gate
func.func @no_gate(%docs: !qt.segments, %q: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %o = qt.attention %docs, %q, %q, %q scale 0.5 : (!qt.segments, tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}

// -----

// CHECK-LABEL: func @silu_gate
func.func @silu_gate(%docs: !qt.segments, %q: tensor<?x4x8xf32>, %gate: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  // expected-remark @below {{expected the attention times a sigmoid; got times qt.silu}}
  %o = qt.attention %docs, %q, %q, %q scale 0.5 : (!qt.segments, tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  %s = qt.silu %gate : tensor<?x4x8xf32>
  %y = qt.mul %o, %s : tensor<?x4x8xf32>, tensor<?x4x8xf32>
  return %y : tensor<?x4x8xf32>
}

// -----

// CHECK-LABEL: func @gate_by_width
func.func @gate_by_width(%docs: !qt.segments, %q: tensor<?x4x8xf32>, %gate: tensor<4x8xf32>) -> tensor<?x4x8xf32> {
  // expected-remark @below {{expected a gate of the attention's type; got argument 2}}
  %o = qt.attention %docs, %q, %q, %q scale 0.5 : (!qt.segments, tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  %s = qt.sigmoid %gate : tensor<4x8xf32>
  %y = qt.mul %o, %s : tensor<?x4x8xf32>, tensor<4x8xf32>
  return %y : tensor<?x4x8xf32>
}

// -----

// CHECK-LABEL: func @read_ungated
func.func @read_ungated(%docs: !qt.segments, %q: tensor<?x4x8xf32>, %gate: tensor<?x4x8xf32>) -> (tensor<?x4x8xf32>, tensor<?x4x8xf32>) {
  // expected-remark @below {{expected the gate alone to read the attention; got other readers}}
  %o = qt.attention %docs, %q, %q, %q scale 0.5 : (!qt.segments, tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  %s = qt.sigmoid %gate : tensor<?x4x8xf32>
  %y = qt.mul %o, %s : tensor<?x4x8xf32>, tensor<?x4x8xf32>
  return %y, %o : tensor<?x4x8xf32>, tensor<?x4x8xf32>
}

// -----

// CHECK-LABEL: func @wide_result
func.func @wide_result(%docs: !qt.segments, %q: tensor<?x4x8xbf16>, %gate: tensor<?x4x8xbf16>) -> tensor<?x4x8xf32> {
  // expected-remark @below {{expected the product in the attention's element type}}
  %o = qt.attention %docs, %q, %q, %q scale 0.5 : (!qt.segments, tensor<?x4x8xbf16>, tensor<?x4x8xbf16>, tensor<?x4x8xbf16>) -> tensor<?x4x8xbf16>
  %of = qt.cast %o : tensor<?x4x8xbf16> -> tensor<?x4x8xf32>
  %gf = qt.cast %gate : tensor<?x4x8xbf16> -> tensor<?x4x8xf32>
  %s = qt.sigmoid %gf : tensor<?x4x8xf32>
  %y = qt.mul %of, %s : tensor<?x4x8xf32>, tensor<?x4x8xf32>
  return %y : tensor<?x4x8xf32>
}
