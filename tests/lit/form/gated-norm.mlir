// The norm of the gated delta net and its gate, in either order, with or without casts.
// RUN: qcc-opt %s --form-gated-norm | FileCheck %s --implicit-check-not=qt.silu --implicit-check-not=qt.mul --implicit-check-not=qt.cast --implicit-check-not=qt.plain_rms_norm

// CHECK-LABEL: func @written
// CHECK-SAME:  (%[[O:.*]]: tensor<?x2x8xbf16>, %[[Z:.*]]: tensor<?x2x8xbf16>, %[[W:.*]]: tensor<8xf32>)
// CHECK-NEXT:    %[[Y:.*]] = qt.gated_rms_norm %[[O]], %[[Z]], %[[W]] eps 9.9999999999999995E-7 {qt.scope = "layers.0.linear_attn.norm"}
// CHECK-NEXT:    return %[[Y]]
func.func @written(%o: tensor<?x2x8xbf16>, %z: tensor<?x2x8xbf16>, %w: tensor<8xf32>) -> tensor<?x2x8xbf16> {
  %n = qt.plain_rms_norm %o, %w eps 1.0e-6 {qt.scope = "layers.0.linear_attn.norm"} : tensor<?x2x8xbf16>, tensor<8xf32> -> tensor<?x2x8xbf16>
  %nf = qt.cast %n : tensor<?x2x8xbf16> -> tensor<?x2x8xf32>
  %zf = qt.cast %z : tensor<?x2x8xbf16> -> tensor<?x2x8xf32>
  %s = qt.silu %zf : tensor<?x2x8xf32>
  %p = qt.mul %nf, %s : tensor<?x2x8xf32>, tensor<?x2x8xf32>
  %y = qt.cast %p : tensor<?x2x8xf32> -> tensor<?x2x8xbf16>
  return %y : tensor<?x2x8xbf16>
}

// CHECK-LABEL: func @commuted
// CHECK-SAME:  (%[[O:.*]]: tensor<?x2x8xf32>, %[[Z:.*]]: tensor<?x2x8xf32>, %[[W:.*]]: tensor<8xf32>)
// CHECK-NEXT:    %[[Y:.*]] = qt.gated_rms_norm %[[O]], %[[Z]], %[[W]] eps 9.9999999999999995E-7 :
// CHECK-NEXT:    return %[[Y]]
func.func @commuted(%o: tensor<?x2x8xf32>, %z: tensor<?x2x8xf32>, %w: tensor<8xf32>) -> tensor<?x2x8xf32> {
  %s = qt.silu %z : tensor<?x2x8xf32>
  %n = qt.plain_rms_norm %o, %w eps 1.0e-6 : tensor<?x2x8xf32>, tensor<8xf32> -> tensor<?x2x8xf32>
  %y = qt.mul %s, %n : tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %y : tensor<?x2x8xf32>
}
