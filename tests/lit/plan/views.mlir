// RUN: qcc-opt %s --lower-to-step --verify-planned | FileCheck %s

// Views cost nothing where strides can say them; where they cannot there is a copy, and only there.

qt.parameter @x : tensor<16x16xf32> init <zeros> names ["x"]
qt.parameter @a : tensor<8x16xf32> init <zeros> names ["a"]
qt.parameter @b : tensor<24x16xf32> init <zeros> names ["b"]
qt.parameter_pack @ab [@a, @b] : tensor<32x16xf32>

// Columns, heads of columns, halves of heads: all are strides of one buffer.
// CHECK-LABEL: step.entry @split.program
// CHECK-NOT: step.copy
// CHECK: step.gemm write %[[QKV:.*]], read %x, read transpose %ab
// CHECK: %[[Q:.*]] = step.slice %[[QKV]][0] : memref<16x32xf32> -> memref<16x8xf32, strided<[32, 1]>>
// CHECK: step.launch swiglu(read %[[Q]], read %[[Q]], write %[[S:.*]]) :
// CHECK: %[[LO:.*]] = step.slice %[[QKV]][8] : memref<16x32xf32> -> memref<16x3x4xf32, strided<[32, 8, 1]>>
// CHECK: %[[HI:.*]] = step.slice %[[QKV]][12] : memref<16x32xf32> -> memref<16x3x4xf32, strided<[32, 8, 1]>>
// CHECK: step.launch global_norm(write %grad_norm, read %[[S]], read %[[LO]], read %[[HI]])
func.func @split() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %x = qt.read @x : tensor<16x16xf32>
  %w = qt.read @ab : tensor<32x16xf32>
  %y = qt.linear %x, %w : tensor<16x16xf32>, tensor<32x16xf32> -> tensor<16x32xf32>
  %q, %kv = qt.split %y dim 1 : tensor<16x32xf32> -> tensor<16x8xf32>, tensor<16x24xf32>
  %heads = qt.reshape %kv : tensor<16x24xf32> -> tensor<16x3x8xf32>
  %lo, %hi = qt.split %heads dim 2 : tensor<16x3x8xf32> -> tensor<16x3x4xf32>, tensor<16x3x4xf32>
  %s = qt.swiglu %q, %q : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %n = qt.global_norm %s, %lo, %hi : (tensor<16x8xf32>, tensor<16x3x4xf32>, tensor<16x3x4xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// A member of a pack is read where it lies in the pack: the second begins after 8 rows of 16.
// CHECK-LABEL: step.entry @member.program
// CHECK: %[[AB:.*]] = step.state @ab : memref<32x16xf32>
// CHECK: %[[B:.*]] = step.slice %[[AB]][128] : memref<32x16xf32> -> memref<24x16xf32>
// CHECK: step.gemm write %{{.*}}, read %x, read transpose %[[B]]
func.func @member() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %x = qt.read @x : tensor<16x16xf32>
  %b = qt.read @b : tensor<24x16xf32>
  %y = qt.linear %x, %b : tensor<16x16xf32>, tensor<24x16xf32> -> tensor<16x24xf32>
  %n = qt.global_norm %y : (tensor<16x24xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// Kernels and products write their parts of a join in place, through reshapes and joins of joins.
// CHECK-LABEL: step.entry @join.program
// CHECK-NOT: step.copy
// CHECK: %[[ALL:.*]] = step.transient 0 : memref<16x12x4xf32>
// CHECK: %[[Q:.*]] = step.slice %[[ALL]][0] : memref<16x12x4xf32> -> memref<16x16xf32, strided<[48, 1]>>
// CHECK: step.gemm write %[[Q]], read %x, read transpose %x
// CHECK: %[[LO:.*]] = step.slice %[[ALL]][16] : memref<16x12x4xf32> -> memref<16x16xf32, strided<[48, 1]>>
// CHECK: %[[HI:.*]] = step.slice %[[ALL]][32]
// CHECK: step.launch swiglu_grad({{.*}}, write %[[LO]], write %[[HI]])
// CHECK: %[[FLAT:.*]] = step.slice %[[ALL]][0] : memref<16x12x4xf32> -> memref<16x48xf32>
// CHECK: step.launch global_norm(write %grad_norm, read %[[FLAT]])
func.func @join() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %x = qt.read @x : tensor<16x16xf32>
  %q = qt.linear %x, %x : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %qh = qt.reshape %q : tensor<16x16xf32> -> tensor<16x4x4xf32>
  %lo, %hi = qt.swiglu_grad %x, %x dy %x : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>)
  %loh = qt.reshape %lo : tensor<16x16xf32> -> tensor<16x4x4xf32>
  %hih = qt.reshape %hi : tensor<16x16xf32> -> tensor<16x4x4xf32>
  %inner = qt.join %loh, %hih dim 1 : tensor<16x4x4xf32>, tensor<16x4x4xf32> -> tensor<16x8x4xf32>
  %outer = qt.join %qh, %inner dim 1 : tensor<16x4x4xf32>, tensor<16x8x4xf32> -> tensor<16x12x4xf32>
  %flat = qt.reshape %outer : tensor<16x12x4xf32> -> tensor<16x48xf32>
  %n = qt.global_norm %flat : (tensor<16x48xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// Zeros are filled in as late as can be, in their place of the join; a parameter and a part that stands twice are copied.
// CHECK-LABEL: step.entry @copied_parts.program
// CHECK: step.launch swiglu({{.*}}, write %[[S:.*]]) :
// CHECK: step.fill write %{{.*}} : memref<16x16xf32, strided<[64, 1]>>
// CHECK: step.copy write %{{.*}}, read %[[S]] : memref<16x16xf32, strided<[64, 1]>>, memref<16x16xf32, strided<[64, 1]>>
// CHECK: step.copy write %{{.*}}, read %x : memref<16x16xf32, strided<[64, 1]>>, memref<16x16xf32>
// CHECK-NOT: step.copy
// CHECK: step.launch global_norm
func.func @copied_parts() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %x = qt.read @x : tensor<16x16xf32>
  %zeros = qt.zeros : tensor<16x16xf32>
  %s = qt.swiglu %x, %x : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %j = qt.join %s, %s, %x, %zeros dim 1 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x64xf32>
  %n = qt.global_norm %j : (tensor<16x64xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// Columns under a shape that needs them without gaps.
// CHECK-LABEL: step.entry @reshape_copy.program
// CHECK: %[[DENSE:.*]] = step.transient {{[0-9]+}} : memref<16x8xf32>
// CHECK: %[[PART:.*]] = step.slice %{{.*}}[0] : memref<16x32xf32> -> memref<16x8xf32, strided<[32, 1]>>
// CHECK: step.copy write %[[DENSE]], read %[[PART]]
// CHECK: step.slice %[[DENSE]][0] : memref<16x8xf32> -> memref<4x32xf32>
func.func @reshape_copy() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %x = qt.read @x : tensor<16x16xf32>
  %w = qt.read @ab : tensor<32x16xf32>
  %y = qt.linear %x, %w : tensor<16x16xf32>, tensor<32x16xf32> -> tensor<16x32xf32>
  %a, %b = qt.split %y dim 1 : tensor<16x32xf32> -> tensor<16x8xf32>, tensor<16x24xf32>
  %r = qt.reshape %a : tensor<16x8xf32> -> tensor<4x32xf32>
  %n = qt.global_norm %r, %b : (tensor<4x32xf32>, tensor<16x24xf32>) -> tensor<f32>
  return %n : tensor<f32>
}
