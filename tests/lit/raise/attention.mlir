// A causal softmax of one bilinear form, contracted with values, becomes one op; scale, casts, transposes and repeated heads are absorbed.
// RUN: qcc-opt %s --raise-attention | FileCheck %s --implicit-check-not=qt.softmax --implicit-check-not=qt.causal_mask --implicit-check-not=qt.contract --implicit-check-not=qt.cast

// As the model language writes it: two query heads a key head, softmax in f32.
// CHECK-LABEL: func @written
// CHECK-SAME:  (%[[DOCS:.*]]: !qt.segments, %[[Q:.*]]: tensor<?x4x8xbf16>, %[[K:.*]]: tensor<?x2x8xbf16>, %[[V:.*]]: tensor<?x2x8xbf16>)
// CHECK-NEXT:    %[[O:.*]] = qt.attention %[[DOCS]], %[[Q]], %[[K]], %[[V]] scale 2.500000e-01 {qt.scope = "layers.3.self_attn"}
// CHECK-SAME:      -> tensor<?x4x8xbf16>
// CHECK-NEXT:    return %[[O]]
func.func @written(%docs: !qt.segments, %q: tensor<?x4x8xbf16>, %k: tensor<?x2x8xbf16>, %v: tensor<?x2x8xbf16>) -> tensor<?x4x8xbf16> {
  %k1 = qt.reshape %k : tensor<?x2x8xbf16> -> tensor<?x2x1x8xbf16>
  %k2 = qt.broadcast %k1 dims [0, 1, 2, 3] : tensor<?x2x1x8xbf16> -> tensor<?x2x2x8xbf16>
  %k3 = qt.reshape %k2 : tensor<?x2x2x8xbf16> -> tensor<?x4x8xbf16>
  %v1 = qt.reshape %v : tensor<?x2x8xbf16> -> tensor<?x2x1x8xbf16>
  %v2 = qt.broadcast %v1 dims [0, 1, 2, 3] : tensor<?x2x1x8xbf16> -> tensor<?x2x2x8xbf16>
  %v3 = qt.reshape %v2 : tensor<?x2x2x8xbf16> -> tensor<?x4x8xbf16>
  %qf = qt.cast %q : tensor<?x4x8xbf16> -> tensor<?x4x8xf32>
  %kf = qt.cast %k3 : tensor<?x4x8xbf16> -> tensor<?x4x8xf32>
  %vf = qt.cast %v3 : tensor<?x4x8xbf16> -> tensor<?x4x8xf32>
  %s = qt.contract %qf, %kf batch [1] x [1] over [2] x [2] {qt.scope = "layers.3.self_attn"} : tensor<?x4x8xf32>, tensor<?x4x8xf32> -> tensor<4x?x?xf32>
  %scaled = qt.scale %s by 0.25 : tensor<4x?x?xf32>
  %masked = qt.causal_mask %docs, %scaled : !qt.segments, tensor<4x?x?xf32>
  %p = qt.softmax %masked {qt.scope = "layers.3.self_attn"} : tensor<4x?x?xf32>
  %o = qt.contract %p, %vf batch [0] x [1] over [2] x [0] {qt.scope = "layers.3.self_attn.x"} : tensor<4x?x?xf32>, tensor<?x4x8xf32> -> tensor<4x?x8xf32>
  %ot = qt.transpose %o [1, 0, 2] : tensor<4x?x8xf32> -> tensor<?x4x8xf32>
  %ob = qt.cast %ot : tensor<?x4x8xf32> -> tensor<?x4x8xbf16>
  return %ob : tensor<?x4x8xbf16>
}

// Keys before queries in the product, the scale on the queries, everything in f32, values before the weights, the cast before the transpose.
// CHECK-LABEL: func @commuted
// CHECK-SAME:  (%[[DOCS:.*]]: !qt.segments, %[[K:.*]]: tensor<?x2x8xf32>, %[[Q:.*]]: tensor<?x2x8xf32>, %[[V:.*]]: tensor<?x2x8xf32>)
// CHECK-NEXT:    %[[O:.*]] = qt.attention %[[DOCS]], %[[Q]], %[[K]], %[[V]] scale 1.250000e-01 :
// CHECK-NEXT:    return %[[O]]
func.func @commuted(%docs: !qt.segments, %k: tensor<?x2x8xf32>, %q: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>) -> tensor<?x2x8xf32> {
  %qs = qt.scale %q by 0.5 : tensor<?x2x8xf32>
  %ks = qt.scale %k by 0.25 : tensor<?x2x8xf32>
  %qt = qt.transpose %qs [1, 0, 2] : tensor<?x2x8xf32> -> tensor<2x?x8xf32>
  %s = qt.contract %ks, %qt batch [1] x [0] over [2] x [2] : tensor<?x2x8xf32>, tensor<2x?x8xf32> -> tensor<2x?x?xf32>
  %st = qt.transpose %s [0, 2, 1] : tensor<2x?x?xf32> -> tensor<2x?x?xf32>
  %masked = qt.causal_mask %docs, %st : !qt.segments, tensor<2x?x?xf32>
  %p = qt.softmax %masked : tensor<2x?x?xf32>
  %o = qt.contract %v, %p batch [1] x [0] over [0] x [2] : tensor<?x2x8xf32>, tensor<2x?x?xf32> -> tensor<2x8x?xf32>
  %ot = qt.transpose %o [2, 0, 1] : tensor<2x8x?xf32> -> tensor<?x2x8xf32>
  return %ot : tensor<?x2x8xf32>
}

// A scale on the keys from before they are repeated.
// CHECK-LABEL: func @scaled_then_repeated
// CHECK-SAME:  (%[[DOCS:.*]]: !qt.segments, %[[Q:.*]]: tensor<?x4x8xf32>, %[[K:.*]]: tensor<?x2x8xf32>)
// CHECK-NEXT:    %[[O:.*]] = qt.attention %[[DOCS]], %[[Q]], %[[K]], %[[K]] scale 2.500000e-01 :
// CHECK-NEXT:    return %[[O]]
func.func @scaled_then_repeated(%docs: !qt.segments, %q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>) -> tensor<?x4x8xf32> {
  %k1 = qt.scale %k by 0.25 : tensor<?x2x8xf32>
  %k2 = qt.broadcast %k1 dims [0, 1, 3] : tensor<?x2x8xf32> -> tensor<?x2x2x8xf32>
  %k3 = qt.reshape %k2 : tensor<?x2x2x8xf32> -> tensor<?x4x8xf32>
  %v2 = qt.broadcast %k dims [0, 1, 3] : tensor<?x2x8xf32> -> tensor<?x2x2x8xf32>
  %v3 = qt.reshape %v2 : tensor<?x2x2x8xf32> -> tensor<?x4x8xf32>
  %s = qt.contract %q, %k3 batch [1] x [1] over [2] x [2] : tensor<?x4x8xf32>, tensor<?x4x8xf32> -> tensor<4x?x?xf32>
  %masked = qt.causal_mask %docs, %s : !qt.segments, tensor<4x?x?xf32>
  %p = qt.softmax %masked : tensor<4x?x?xf32>
  %o = qt.contract %p, %v3 batch [0] x [1] over [2] x [0] : tensor<4x?x?xf32>, tensor<?x4x8xf32> -> tensor<4x?x8xf32>
  %ot = qt.transpose %o [1, 0, 2] : tensor<4x?x8xf32> -> tensor<?x4x8xf32>
  return %ot : tensor<?x4x8xf32>
}

// Keys alone are repeated: they stay so, since the op reads keys and values of one number of heads.
// CHECK-LABEL: func @keys_alone_repeated
// CHECK-SAME:  (%[[DOCS:.*]]: !qt.segments, %[[Q:.*]]: tensor<?x4x8xf32>, %[[K:.*]]: tensor<?x2x8xf32>, %[[V:.*]]: tensor<?x4x8xf32>)
// CHECK:         %[[KB:.*]] = qt.broadcast %[[K]] dims [0, 1, 3]
// CHECK:         %[[KR:.*]] = qt.reshape %[[KB]]
// CHECK:         qt.attention %[[DOCS]], %[[Q]], %[[KR]], %[[V]] scale 1.000000e+00
func.func @keys_alone_repeated(%docs: !qt.segments, %q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %k2 = qt.broadcast %k dims [0, 1, 3] : tensor<?x2x8xf32> -> tensor<?x2x2x8xf32>
  %k3 = qt.reshape %k2 : tensor<?x2x2x8xf32> -> tensor<?x4x8xf32>
  %s = qt.contract %q, %k3 batch [1] x [1] over [2] x [2] : tensor<?x4x8xf32>, tensor<?x4x8xf32> -> tensor<4x?x?xf32>
  %masked = qt.causal_mask %docs, %s : !qt.segments, tensor<4x?x?xf32>
  %p = qt.softmax %masked : tensor<4x?x?xf32>
  %o = qt.contract %p, %v batch [0] x [1] over [2] x [0] : tensor<4x?x?xf32>, tensor<?x4x8xf32> -> tensor<4x?x8xf32>
  %ot = qt.transpose %o [1, 0, 2] : tensor<4x?x8xf32> -> tensor<?x4x8xf32>
  return %ot : tensor<?x4x8xf32>
}

// Key and value head h mod 2, not h / 2: another order of heads, which is not absorbed.
// CHECK-LABEL: func @interleaved_heads
// CHECK:         qt.broadcast
// CHECK:         %[[KR:.*]] = qt.reshape
// CHECK:         qt.broadcast
// CHECK:         %[[VR:.*]] = qt.reshape
// CHECK:         qt.attention %{{.*}}, %{{.*}}, %[[KR]], %[[VR]] scale
func.func @interleaved_heads(%docs: !qt.segments, %q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>) -> tensor<?x4x8xf32> {
  %k2 = qt.broadcast %k dims [0, 2, 3] : tensor<?x2x8xf32> -> tensor<?x2x2x8xf32>
  %k3 = qt.reshape %k2 : tensor<?x2x2x8xf32> -> tensor<?x4x8xf32>
  %v2 = qt.broadcast %v dims [0, 2, 3] : tensor<?x2x8xf32> -> tensor<?x2x2x8xf32>
  %v3 = qt.reshape %v2 : tensor<?x2x2x8xf32> -> tensor<?x4x8xf32>
  %s = qt.contract %q, %k3 batch [1] x [1] over [2] x [2] : tensor<?x4x8xf32>, tensor<?x4x8xf32> -> tensor<4x?x?xf32>
  %masked = qt.causal_mask %docs, %s : !qt.segments, tensor<4x?x?xf32>
  %p = qt.softmax %masked : tensor<4x?x?xf32>
  %o = qt.contract %p, %v3 batch [0] x [1] over [2] x [0] : tensor<4x?x?xf32>, tensor<?x4x8xf32> -> tensor<4x?x8xf32>
  %ot = qt.transpose %o [1, 0, 2] : tensor<4x?x8xf32> -> tensor<?x4x8xf32>
  return %ot : tensor<?x4x8xf32>
}
