// The sigmoid that an attention's result is multiplied by becomes its gate.
// RUN: qcc-opt %s --form-attention-gate | FileCheck %s --implicit-check-not=qt.sigmoid --implicit-check-not=qt.mul --implicit-check-not=qt.cast

// CHECK-LABEL: func @written
// CHECK-SAME:  (%[[DOCS:.*]]: !qt.segments, %[[Q:.*]]: tensor<?x4x8xbf16>, %[[K:.*]]: tensor<?x2x8xbf16>, %[[V:.*]]: tensor<?x2x8xbf16>, %[[G:.*]]: tensor<?x4x8xbf16>)
// CHECK-NEXT:    %[[Y:.*]] = qt.attention %[[DOCS]], %[[Q]], %[[K]], %[[V]] gate %[[G]] scale 5.000000e-01 {qt.scope = "layers.3.self_attn"}
// CHECK-NEXT:    return %[[Y]]
func.func @written(%docs: !qt.segments, %q: tensor<?x4x8xbf16>, %k: tensor<?x2x8xbf16>, %v: tensor<?x2x8xbf16>, %gate: tensor<?x4x8xbf16>) -> tensor<?x4x8xbf16> {
  %o = qt.attention %docs, %q, %k, %v scale 0.5 {qt.scope = "layers.3.self_attn"} : (!qt.segments, tensor<?x4x8xbf16>, tensor<?x2x8xbf16>, tensor<?x2x8xbf16>) -> tensor<?x4x8xbf16>
  %s = qt.sigmoid %gate : tensor<?x4x8xbf16>
  %y = qt.mul %o, %s : tensor<?x4x8xbf16>, tensor<?x4x8xbf16>
  return %y : tensor<?x4x8xbf16>
}

// Multiplied flat, in f32, the gate first.
// CHECK-LABEL: func @flat
// CHECK-SAME:  (%[[DOCS:.*]]: !qt.segments, %[[Q:.*]]: tensor<?x4x8xbf16>, %[[G:.*]]: tensor<?x32xbf16>)
// CHECK-NEXT:    %[[GH:.*]] = qt.reshape %[[G]] : tensor<?x32xbf16> -> tensor<?x4x8xbf16>
// CHECK-NEXT:    %[[Y:.*]] = qt.attention %[[DOCS]], %[[Q]], %[[Q]], %[[Q]] gate %[[GH]] scale
// CHECK-NEXT:    %[[F:.*]] = qt.reshape %[[Y]] : tensor<?x4x8xbf16> -> tensor<?x32xbf16>
// CHECK-NEXT:    return %[[F]]
func.func @flat(%docs: !qt.segments, %q: tensor<?x4x8xbf16>, %gate: tensor<?x32xbf16>) -> tensor<?x32xbf16> {
  %gf = qt.cast %gate : tensor<?x32xbf16> -> tensor<?x32xf32>
  %s = qt.sigmoid %gf : tensor<?x32xf32>
  %o = qt.attention %docs, %q, %q, %q scale 0.5 : (!qt.segments, tensor<?x4x8xbf16>, tensor<?x4x8xbf16>, tensor<?x4x8xbf16>) -> tensor<?x4x8xbf16>
  %flat = qt.reshape %o : tensor<?x4x8xbf16> -> tensor<?x32xbf16>
  %of = qt.cast %flat : tensor<?x32xbf16> -> tensor<?x32xf32>
  %p = qt.mul %s, %of : tensor<?x32xf32>, tensor<?x32xf32>
  %y = qt.cast %p : tensor<?x32xf32> -> tensor<?x32xbf16>
  return %y : tensor<?x32xbf16>
}
