// A scan of the gated delta rule, however it is spelled, becomes one op. Which row is which is found from the body.
// RUN: qcc-opt %s --raise-gated-delta | FileCheck %s --implicit-check-not=qt.scan --implicit-check-not=qt.exp --implicit-check-not=qt.cast

// As the model language writes it: bf16 rows widened, q scaled, two value heads a key head.
// CHECK-LABEL: func @written
// CHECK-SAME:  (%[[DOCS:.*]]: !qt.segments, %[[Q:.*]]: tensor<?x2x8xbf16>, %[[K:.*]]: tensor<?x2x8xbf16>, %[[V:.*]]: tensor<?x4x6xbf16>, %[[G:.*]]: tensor<?x4xf32>, %[[BETA:.*]]: tensor<?x4xbf16>)
// CHECK-NEXT:    %[[O:.*]] = qt.gated_delta_rule %[[DOCS]], %[[Q]], %[[K]], %[[V]], %[[G]], %[[BETA]] scale 2.500000e-01 {qt.scope = "layers.0.linear_attn"}
// CHECK-SAME:      -> tensor<?x4x6xbf16>
// CHECK-NEXT:    return %[[O]]
func.func @written(%docs: !qt.segments, %q: tensor<?x2x8xbf16>, %k: tensor<?x2x8xbf16>, %v: tensor<?x4x6xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>) -> tensor<?x4x6xbf16> {
  %q1 = qt.cast %q : tensor<?x2x8xbf16> -> tensor<?x2x8xf32>
  %q2 = qt.scale %q1 by 0.25 : tensor<?x2x8xf32>
  %q3 = qt.reshape %q2 : tensor<?x2x8xf32> -> tensor<?x2x1x8xf32>
  %q4 = qt.broadcast %q3 dims [0, 1, 2, 3] : tensor<?x2x1x8xf32> -> tensor<?x2x2x8xf32>
  %q5 = qt.reshape %q4 : tensor<?x2x2x8xf32> -> tensor<?x4x8xf32>
  %k1 = qt.cast %k : tensor<?x2x8xbf16> -> tensor<?x2x8xf32>
  %k2 = qt.reshape %k1 : tensor<?x2x8xf32> -> tensor<?x2x1x8xf32>
  %k3 = qt.broadcast %k2 dims [0, 1, 2, 3] : tensor<?x2x1x8xf32> -> tensor<?x2x2x8xf32>
  %k4 = qt.reshape %k3 : tensor<?x2x2x8xf32> -> tensor<?x4x8xf32>
  %v1 = qt.cast %v : tensor<?x4x6xbf16> -> tensor<?x4x6xf32>
  %beta1 = qt.cast %beta : tensor<?x4xbf16> -> tensor<?x4xf32>
  %o = qt.scan %docs, %q5, %k4, %v1, %g, %beta1 state tensor<4x8x6xf32> {qt.scope = "layers.0.linear_attn"} : !qt.segments, tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x6xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4x6xf32> {
  ^bb0(%s: tensor<4x8x6xf32>, %q_t: tensor<4x8xf32>, %k_t: tensor<4x8xf32>, %v_t: tensor<4x6xf32>, %g_t: tensor<4xf32>, %b_t: tensor<4xf32>):
    %e = qt.exp %g_t : tensor<4xf32>
    %eb = qt.broadcast %e dims [0] : tensor<4xf32> -> tensor<4x8x6xf32>
    %s1 = qt.mul %eb, %s : tensor<4x8x6xf32>, tensor<4x8x6xf32>
    %bb = qt.broadcast %b_t dims [0] : tensor<4xf32> -> tensor<4x6xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<4x8x6xf32>, tensor<4x8xf32> -> tensor<4x6xf32>
    %new = qt.sub %v_t, %seen : tensor<4x6xf32>, tensor<4x6xf32>
    %d = qt.mul %bb, %new : tensor<4x6xf32>, tensor<4x6xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<4x8xf32>, tensor<4x6xf32> -> tensor<4x8x6xf32>
    %s2 = qt.add %s1, %kd : tensor<4x8x6xf32>, tensor<4x8x6xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<4x8x6xf32>, tensor<4x8xf32> -> tensor<4x6xf32>
    qt.yield %s2, %o_t : tensor<4x8x6xf32>, tensor<4x6xf32>
  }
  %o1 = qt.cast %o : tensor<?x4x6xf32> -> tensor<?x4x6xbf16>
  return %o1 : tensor<?x4x6xbf16>
}

// Expanded, e^g (S - beta k k^T S) + beta k v^T, with the rows in another order, products commuted and the output scaled.
// CHECK-LABEL: func @expanded
// CHECK-SAME:  (%[[DOCS:.*]]: !qt.segments, %[[BETA:.*]]: tensor<?x2xf32>, %[[V:.*]]: tensor<?x2x4xf32>, %[[G:.*]]: tensor<?x2xf32>, %[[K:.*]]: tensor<?x2x4xf32>, %[[Q:.*]]: tensor<?x2x4xf32>)
// CHECK-NEXT:    %[[O:.*]] = qt.gated_delta_rule %[[DOCS]], %[[Q]], %[[K]], %[[V]], %[[G]], %[[BETA]] scale -5.000000e-01 :
// CHECK-NEXT:    return %[[O]]
func.func @expanded(%docs: !qt.segments, %beta: tensor<?x2xf32>, %v: tensor<?x2x4xf32>, %g: tensor<?x2xf32>, %k: tensor<?x2x4xf32>, %q: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %o = qt.scan %docs, %beta, %v, %g, %k, %q state tensor<2x4x4xf32> : !qt.segments, tensor<?x2xf32>, tensor<?x2x4xf32>, tensor<?x2xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32> -> tensor<?x2x4xf32> {
  ^bb0(%s: tensor<2x4x4xf32>, %b_t: tensor<2xf32>, %v_t: tensor<2x4xf32>, %g_t: tensor<2xf32>, %k_t: tensor<2x4xf32>, %q_t: tensor<2x4xf32>):
    %bb = qt.broadcast %b_t dims [0] : tensor<2xf32> -> tensor<2x4xf32>
    %bk = qt.mul %k_t, %bb : tensor<2x4xf32>, tensor<2x4xf32>
    %kk = qt.contract %bk, %k_t batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4x4xf32>
    %seen = qt.contract %kk, %s batch [0] x [0] over [2] x [1] : tensor<2x4x4xf32>, tensor<2x4x4xf32> -> tensor<2x4x4xf32>
    %minus = qt.neg %seen : tensor<2x4x4xf32>
    %kept = qt.add %minus, %s : tensor<2x4x4xf32>, tensor<2x4x4xf32>
    %gb = qt.broadcast %g_t dims [0] : tensor<2xf32> -> tensor<2x4x4xf32>
    %e = qt.exp %gb : tensor<2x4x4xf32>
    %decayed = qt.mul %kept, %e : tensor<2x4x4xf32>, tensor<2x4x4xf32>
    %bv = qt.contract %v_t, %bk batch [0] x [0] over [] x [] : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4x4xf32>
    %written = qt.transpose %bv [0, 2, 1] : tensor<2x4x4xf32> -> tensor<2x4x4xf32>
    %s2 = qt.add %written, %decayed : tensor<2x4x4xf32>, tensor<2x4x4xf32>
    %read = qt.contract %q_t, %s2 batch [0] x [0] over [1] x [1] : tensor<2x4xf32>, tensor<2x4x4xf32> -> tensor<2x4xf32>
    %o_t = qt.scale %read by -0.5 : tensor<2x4xf32>
    qt.yield %s2, %o_t : tensor<2x4x4xf32>, tensor<2x4xf32>
  }
  return %o : tensor<?x2x4xf32>
}

// The state may be kept as [value width, heads, key width], and sums be written with broadcasts and reductions.
// CHECK-LABEL: func @other_layout
// CHECK-SAME:  (%[[DOCS:.*]]: !qt.segments, %[[Q:.*]]: tensor<?x2x4xf32>, %[[K:.*]]: tensor<?x2x4xf32>, %[[V:.*]]: tensor<?x2x3xf32>, %[[G:.*]]: tensor<?x2xf32>, %[[BETA:.*]]: tensor<?x2xf32>)
// CHECK-NEXT:    %[[O:.*]] = qt.gated_delta_rule %[[DOCS]], %[[Q]], %[[K]], %[[V]], %[[G]], %[[BETA]] scale 1.000000e+00 :
// CHECK-NEXT:    %[[T:.*]] = qt.transpose %[[O]] [0, 2, 1] : tensor<?x2x3xf32> -> tensor<?x3x2xf32>
// CHECK-NEXT:    return %[[T]]
func.func @other_layout(%docs: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %beta: tensor<?x2xf32>) -> tensor<?x3x2xf32> {
  %kt = qt.transpose %k [0, 2, 1] : tensor<?x2x4xf32> -> tensor<?x4x2xf32>
  %o = qt.scan %docs, %q, %kt, %v, %g, %beta state tensor<3x2x4xf32> : !qt.segments, tensor<?x2x4xf32>, tensor<?x4x2xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x3x2xf32> {
  ^bb0(%s: tensor<3x2x4xf32>, %q_t: tensor<2x4xf32>, %k_t: tensor<4x2xf32>, %v_t: tensor<2x3xf32>, %g_t: tensor<2xf32>, %b_t: tensor<2xf32>):
    %e = qt.exp %g_t : tensor<2xf32>
    %eb = qt.broadcast %e dims [1] : tensor<2xf32> -> tensor<3x2x4xf32>
    %s1 = qt.mul %s, %eb : tensor<3x2x4xf32>, tensor<3x2x4xf32>
    %kh = qt.transpose %k_t [1, 0] : tensor<4x2xf32> -> tensor<2x4xf32>
    %sk = qt.mul %s1, %kh : tensor<3x2x4xf32>, tensor<2x4xf32>
    %seen = qt.reduce_sum %sk dims [2] : tensor<3x2x4xf32> -> tensor<3x2xf32>
    %vt = qt.transpose %v_t [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
    %new = qt.sub %vt, %seen : tensor<3x2xf32>, tensor<3x2xf32>
    %d = qt.mul %new, %b_t : tensor<3x2xf32>, tensor<2xf32>
    %db = qt.broadcast %d dims [0, 1] : tensor<3x2xf32> -> tensor<3x2x4xf32>
    %dk = qt.mul %db, %kh : tensor<3x2x4xf32>, tensor<2x4xf32>
    %s2 = qt.add %s1, %dk : tensor<3x2x4xf32>, tensor<3x2x4xf32>
    %sq = qt.mul %s2, %q_t : tensor<3x2x4xf32>, tensor<2x4xf32>
    %o_t = qt.reduce_sum %sq dims [2] : tensor<3x2x4xf32> -> tensor<3x2xf32>
    qt.yield %s2, %o_t : tensor<3x2x4xf32>, tensor<3x2xf32>
  }
  return %o : tensor<?x3x2xf32>
}

// Heads that q alone repeats stay as they are: the op reads queries and keys of one number of heads. A head h mod 2 is no repetition in a row either.
// CHECK-LABEL: func @repeated_alone
// CHECK-SAME:  (%[[DOCS:.*]]: !qt.segments, %[[Q:.*]]: tensor<?x2x8xf32>, %[[K:.*]]: tensor<?x2x8xf32>,
// CHECK:         %[[QB:.*]] = qt.broadcast
// CHECK:         %[[QR:.*]] = qt.reshape %[[QB]]
// CHECK:         %[[KB:.*]] = qt.broadcast
// CHECK:         %[[KR:.*]] = qt.reshape %[[KB]]
// CHECK:         qt.gated_delta_rule %[[DOCS]], %[[QR]], %[[KR]],
func.func @repeated_alone(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x4x6xf32>, %g: tensor<?x4xf32>, %beta: tensor<?x4xf32>) -> tensor<?x4x6xf32> {
  %q1 = qt.broadcast %q dims [0, 1, 3] : tensor<?x2x8xf32> -> tensor<?x2x2x8xf32>
  %q2 = qt.reshape %q1 : tensor<?x2x2x8xf32> -> tensor<?x4x8xf32>
  %k1 = qt.broadcast %k dims [0, 2, 3] : tensor<?x2x8xf32> -> tensor<?x2x2x8xf32>
  %k2 = qt.reshape %k1 : tensor<?x2x2x8xf32> -> tensor<?x4x8xf32>
  %o = qt.scan %docs, %q2, %k2, %v, %g, %beta state tensor<4x8x6xf32> : !qt.segments, tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x6xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4x6xf32> {
  ^bb0(%s: tensor<4x8x6xf32>, %q_t: tensor<4x8xf32>, %k_t: tensor<4x8xf32>, %v_t: tensor<4x6xf32>, %g_t: tensor<4xf32>, %b_t: tensor<4xf32>):
    %e = qt.exp %g_t : tensor<4xf32>
    %eb = qt.broadcast %e dims [0] : tensor<4xf32> -> tensor<4x8x6xf32>
    %s1 = qt.mul %eb, %s : tensor<4x8x6xf32>, tensor<4x8x6xf32>
    %bb = qt.broadcast %b_t dims [0] : tensor<4xf32> -> tensor<4x6xf32>
    %seen = qt.contract %s1, %k_t batch [0] x [0] over [1] x [1] : tensor<4x8x6xf32>, tensor<4x8xf32> -> tensor<4x6xf32>
    %new = qt.sub %v_t, %seen : tensor<4x6xf32>, tensor<4x6xf32>
    %d = qt.mul %bb, %new : tensor<4x6xf32>, tensor<4x6xf32>
    %kd = qt.contract %k_t, %d batch [0] x [0] over [] x [] : tensor<4x8xf32>, tensor<4x6xf32> -> tensor<4x8x6xf32>
    %s2 = qt.add %s1, %kd : tensor<4x8x6xf32>, tensor<4x8x6xf32>
    %o_t = qt.contract %s2, %q_t batch [0] x [0] over [1] x [1] : tensor<4x8x6xf32>, tensor<4x8xf32> -> tensor<4x6xf32>
    qt.yield %s2, %o_t : tensor<4x8x6xf32>, tensor<4x6xf32>
  }
  return %o : tensor<?x4x6xf32>
}
