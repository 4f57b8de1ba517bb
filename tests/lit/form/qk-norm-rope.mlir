// Norm and rope of queries and keys, paired by the attention that reads them; values pass by.
// RUN: qcc-opt %s --form-qk-norm-rope | FileCheck %s --implicit-check-not="qt.rms_norm " --implicit-check-not="qt.rope "

// CHECK-LABEL: func @written
// CHECK-SAME:  (%[[DOCS:.*]]: !qt.segments, %[[Q:.*]]: tensor<?x4x8xbf16>, %[[KF:.*]]: tensor<?x16xbf16>, %[[V:.*]]: tensor<?x2x8xbf16>)
func.func @written(%docs: !qt.segments, %q: tensor<?x4x8xbf16>, %kf: tensor<?x16xbf16>, %v: tensor<?x2x8xbf16>) -> tensor<?x4x8xbf16> {
  // The keys are known after a watch of the queries: it waits.
  // CHECK-DAG: %[[K:.*]] = qt.reshape %[[KF]]
  // CHECK-DAG: %[[QW:.*]] = qt.read @q
  // CHECK-DAG: %[[KW:.*]] = qt.read @k
  // CHECK: %[[QR:.*]], %[[KR:.*]] = qt.qk_norm_rope %[[DOCS]], %[[Q]], %[[K]], %[[QW]], %[[KW]] eps 9.9999999999999995E-7 theta 1.000000e+04 dims 4 {qt.scope = "layers.3.self_attn"}
  // CHECK: qt.watch %[[QR]] as "queries"
  // CHECK: qt.attention %[[DOCS]], %[[QR]], %[[KR]], %[[V]]
  %qw = qt.read @q : tensor<8xbf16>
  %qn = qt.rms_norm %q, %qw eps 1.0e-6 {qt.scope = "layers.3.self_attn.q_norm"} : (tensor<?x4x8xbf16>, tensor<8xbf16>) -> tensor<?x4x8xbf16>
  %qr = qt.rope %docs, %qn theta 1.0e4 dims 4 {qt.scope = "layers.3.self_attn"} : !qt.segments, tensor<?x4x8xbf16>
  qt.watch %qr as "queries" : tensor<?x4x8xbf16>
  %k = qt.reshape %kf : tensor<?x16xbf16> -> tensor<?x2x8xbf16>
  %kw = qt.read @k : tensor<8xbf16>
  %kn = qt.rms_norm %k, %kw eps 1.0e-6 {qt.scope = "layers.3.self_attn.k_norm"} : (tensor<?x2x8xbf16>, tensor<8xbf16>) -> tensor<?x2x8xbf16>
  %kr = qt.rope %docs, %kn theta 1.0e4 dims 4 {qt.scope = "layers.3.self_attn"} : !qt.segments, tensor<?x2x8xbf16>
  %y = qt.attention %docs, %qr, %kr, %v scale 0.5 : (!qt.segments, tensor<?x4x8xbf16>, tensor<?x2x8xbf16>, tensor<?x2x8xbf16>) -> tensor<?x4x8xbf16>
  return %y : tensor<?x4x8xbf16>
}
qt.parameter @q : tensor<8xbf16> init <zeros> names ["q"]
qt.parameter @k : tensor<8xbf16> init <zeros> names ["k"]
