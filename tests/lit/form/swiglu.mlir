// silu(gate) * up in either order, with or without casts.
// RUN: qcc-opt %s --form-swiglu | FileCheck %s --implicit-check-not=qt.silu --implicit-check-not=qt.mul --implicit-check-not=qt.cast

// CHECK-LABEL: func @written
// CHECK-SAME:  (%[[G:.*]]: tensor<?x8xbf16>, %[[U:.*]]: tensor<?x8xbf16>)
// CHECK-NEXT:    %[[Y:.*]] = qt.swiglu %[[G]], %[[U]] {qt.scope = "layers.0.mlp"}
// CHECK-NEXT:    return %[[Y]]
func.func @written(%gate: tensor<?x8xbf16>, %up: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %s = qt.silu %gate {qt.scope = "layers.0.mlp.act"} : tensor<?x8xbf16>
  %y = qt.mul %s, %up {qt.scope = "layers.0.mlp"} : tensor<?x8xbf16>, tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: func @commuted_in_f32
// CHECK-SAME:  (%[[G:.*]]: tensor<?x8xbf16>, %[[U:.*]]: tensor<?x8xbf16>)
// CHECK-NEXT:    %[[Y:.*]] = qt.swiglu %[[G]], %[[U]] :
// CHECK-NEXT:    return %[[Y]]
func.func @commuted_in_f32(%gate: tensor<?x8xbf16>, %up: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %gf = qt.cast %gate : tensor<?x8xbf16> -> tensor<?x8xf32>
  %uf = qt.cast %up : tensor<?x8xbf16> -> tensor<?x8xf32>
  %s = qt.silu %gf : tensor<?x8xf32>
  %p = qt.mul %uf, %s : tensor<?x8xf32>, tensor<?x8xf32>
  %y = qt.cast %p : tensor<?x8xf32> -> tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}
