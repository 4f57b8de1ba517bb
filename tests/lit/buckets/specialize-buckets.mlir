// Each bucket has its entry functions: tokens and trained rows are known, by substitution. The functions for any row stay, and @apply has no bucket.
// RUN: qcc-opt %s --specialize-buckets=buckets=128x4x96x64,32 --verify-bucketed | FileCheck %s

// CHECK: func.func @step(%{{.*}}: tensor<?xi32>
// CHECK: func.func @accumulate(%{{.*}}: tensor<?xi32>
// CHECK: func.func @apply()
// CHECK: func.func @eval(%{{.*}}: tensor<?xi32>

// CHECK-LABEL: func.func @step.128x4x96x64(
// CHECK-SAME: %{{.*}}: tensor<128xi32> {qt.argument = #qt.argument<ids>}, %{{.*}}: !qt.segments<128, 4, 96, 64> {qt.argument = #qt.argument<segments>},
// CHECK-SAME: -> (tensor<128x4xf32>, tensor<64x4xf32>) attributes {qt.entry = #qt.entry<step>}
// What comes from nothing has the rows of what reads it.
// CHECK-NEXT: %[[ZEROS_T:.*]] = qt.zeros : tensor<128x4xf32>
// CHECK-NEXT: %[[ZEROS_R:.*]] = qt.zeros : tensor<64x4xf32>
// CHECK-NEXT: qt.zeros : tensor<128xf32>
// CHECK-NEXT: qt.embedding {{.*}} -> tensor<128x4xf32>
// CHECK-NEXT: qt.add {{.*}} : tensor<128x4xf32>, tensor<128x4xf32>
// CHECK-NEXT: qt.gather_rows {{.*}} : (!qt.segments<128, 4, 96, 64>, tensor<128x4xf32>) -> tensor<64x4xf32>
// CHECK-NEXT: qt.add {{.*}} : tensor<64x4xf32>, tensor<64x4xf32>
// CHECK-NEXT: qt.barrier {{.*}} : tensor<64x4xf32>, tensor<128x4xf32>
// CHECK-NEXT: qt.linear {{.*}} -> tensor<64x4xf32>
// CHECK-NEXT: qt.scatter_rows {{.*}} : (!qt.segments<128, 4, 96, 64>, tensor<64x4xf32>) -> tensor<128x4xf32>
// CHECK-NEXT: qt.contract {{.*}} : tensor<128x4xf32>, tensor<128x4xf32> -> tensor<128x128xf32>
// The body of a scan sees one token.
// CHECK-NEXT: qt.scan {{.*}} : !qt.segments<128, 4, 96, 64>, tensor<128x4xf32> -> tensor<128x4xf32>
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>):

// CHECK-LABEL: func.func @accumulate.128x4x96x64(
// CHECK-LABEL: func.func @eval.128x4x96x64(
// CHECK-NOT: @apply.
// CHECK-LABEL: func.func @step.32(
// CHECK-SAME: !qt.segments<32, 32, 32, 32>
// CHECK: qt.gather_rows {{.*}} : (!qt.segments<32, 32, 32, 32>, tensor<32x4xf32>) -> tensor<32x4xf32>
// CHECK-LABEL: func.func @accumulate.32(
// CHECK-LABEL: func.func @eval.32(
func.func @step(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %docs: !qt.segments {qt.argument = #qt.argument<segments>},
                %table: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %zt = qt.zeros : tensor<?x4xf32>
  %zr = qt.zeros : tensor<?x4xf32>
  %nothing = qt.zeros : tensor<?xf32>
  %e = qt.embedding %docs, %ids, %table : (!qt.segments, tensor<?xi32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %x = qt.add %zt, %e : tensor<?x4xf32>, tensor<?x4xf32>
  %r = qt.gather_rows %docs, %x : (!qt.segments, tensor<?x4xf32>) -> tensor<?x4xf32>
  %r1 = qt.add %zr, %r : tensor<?x4xf32>, tensor<?x4xf32>
  %r2 = qt.barrier %r1 after %x : tensor<?x4xf32>, tensor<?x4xf32>
  %y = qt.linear %r2, %w : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  %d = qt.scatter_rows %docs, %y : (!qt.segments, tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = qt.contract %d, %x batch [] x [] over [1] x [1] : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x?xf32>
  %o = qt.scan %docs, %d state tensor<4xf32> : !qt.segments, tensor<?x4xf32> -> tensor<?x4xf32> {
  ^bb0(%st: tensor<4xf32>, %x_t: tensor<4xf32>):
    qt.yield %st, %x_t : tensor<4xf32>, tensor<4xf32>
  }
  return %o, %y : tensor<?x4xf32>, tensor<?x4xf32>
}
func.func @accumulate(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %docs: !qt.segments {qt.argument = #qt.argument<segments>})
    attributes {qt.entry = #qt.entry<accumulate>} {
  return
}
func.func @apply() attributes {qt.entry = #qt.entry<apply>} {
  return
}
func.func @eval(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %docs: !qt.segments {qt.argument = #qt.argument<segments>})
    attributes {qt.entry = #qt.entry<eval>} {
  return
}
