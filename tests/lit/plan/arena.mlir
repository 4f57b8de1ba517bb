// RUN: qcc-opt %s --lower-to-step --verify-planned | FileCheck %s

// Lifetimes in, offsets out. The arithmetic is in the comments; each matrix of 16 x 16 f32 has 1024 bytes.

qt.parameter @x : tensor<16x16xf32> init <zeros> names ["x"]
qt.parameter @wide : tensor<48x16xf32> init <zeros> names ["wide"]

// A chain: one value is read while the next is written, so two places take turns. 2 * 1024 = 2048.
// CHECK-LABEL: step.entry @chain.program apply io 1280 transient 2048 {
func.func @chain() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  // CHECK: %[[T0:.*]] = step.transient [[A:[0-9]+]] : memref<16x16xf32>
  // CHECK: %[[T1:.*]] = step.transient [[B:[0-9]+]] : memref<16x16xf32>
  // CHECK: %[[T2:.*]] = step.transient [[A]] : memref<16x16xf32>
  // CHECK: %[[T3:.*]] = step.transient [[B]] : memref<16x16xf32>
  %x = qt.read @x : tensor<16x16xf32>
  %0 = qt.swiglu %x, %x : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = qt.swiglu %0, %0 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = qt.swiglu %1, %1 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = qt.swiglu %2, %2 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %n = qt.global_norm %3 : (tensor<16x16xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// What a wide activation (16 x 48: 3072 bytes) leaves behind is filled by what comes later.
//   instruction 0 writes the wide one, 1 reads it and writes a (1024): 4096 alive
//   2 to 4 write b, c, d of 1024 each: at 4, a, b, c and d are alive: 4096
// CHECK-LABEL: step.entry @reuse.program apply io 1280 transient 4096 {
func.func @reuse() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  %x = qt.read @x : tensor<16x16xf32>
  %w = qt.read @wide : tensor<48x16xf32>
  %wide = qt.linear %x, %w : tensor<16x16xf32>, tensor<48x16xf32> -> tensor<16x48xf32>
  %a = qt.linear_input_grad %wide, %w : tensor<16x48xf32>, tensor<48x16xf32> -> tensor<16x16xf32>
  %b = qt.swiglu %x, %a : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %c = qt.swiglu %x, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %d = qt.swiglu %x, %c : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %n = qt.global_norm %a, %b, %c, %d : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// A debug table's row keeps its value until the instruction it names, no longer: a watch at the end of the chain changes nothing of the plan.
// CHECK-LABEL: step.entry @watched.program apply io 1280 transient 2048 {
func.func @watched() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  // CHECK: step.launch swiglu({{.*}}, write %[[T0:t.*]])
  // CHECK-NEXT: step.watch %[[T0]] as "first"
  // CHECK: step.launch swiglu
  // CHECK: step.launch swiglu
  // CHECK: step.launch global_norm
  %x = qt.read @x : tensor<16x16xf32>
  %0 = qt.swiglu %x, %x : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = qt.swiglu %0, %0 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = qt.swiglu %1, %1 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %n = qt.global_norm %2 : (tensor<16x16xf32>) -> tensor<f32>
  qt.watch %0 as "first" : tensor<16x16xf32>
  return %n : tensor<f32>
}

// A value that is watched after its last reader has run keeps its bytes until then: three places. 3 * 1024 = 3072.
// CHECK-LABEL: step.entry @watched_late.program apply io 1280 transient 3072 {
func.func @watched_late() -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>} {
  // CHECK: step.launch swiglu({{.*}}, write %[[T0:t.*]])
  // CHECK: step.launch swiglu
  // CHECK: step.launch swiglu
  // CHECK-NEXT: step.watch %[[T0]] as "first"
  %x = qt.read @x : tensor<16x16xf32>
  %0 = qt.swiglu %x, %x : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = qt.swiglu %0, %0 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = qt.swiglu %1, %1 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %late = qt.barrier %0 after %2 : tensor<16x16xf32>, tensor<16x16xf32>
  qt.watch %late as "first" : tensor<16x16xf32>
  %n = qt.global_norm %2 : (tensor<16x16xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// A tile of logits is workspace: 16 rows of 48 columns, 3072 bytes, for one instruction. x 1024 + y 1024 of before are gone by then: dx takes
// 1024, dweight 3072, the logits 3072; nothing of it may share. The head's input 1024 too: 1024 + 3072 + 3072 + 1024 = 8192.
// CHECK-LABEL: step.entry @workspace.8 step
func.func @workspace.8(%labels: tensor<16xi32> {qt.argument = #qt.argument<labels>}, %scale: tensor<f32> {qt.argument = #qt.argument<inverse_tokens>},
                     %docs: !qt.segments<16, 1, 16, 16> {qt.argument = #qt.argument<segments>})
    -> (tensor<f32> {qt.result = #qt.result<loss>}, tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<step>} {
  // CHECK-SAME: transient 8192 {
  // CHECK: step.launch linear_cross_entropy_grad({{.*}}) workspace %{{.*}} : {{.*}}, memref<768xf32>
  %x = qt.read @x : tensor<16x16xf32>
  %w = qt.read @wide : tensor<48x16xf32>
  %h = qt.swiglu %x, %x : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %loss, %dx, %dw = qt.linear_cross_entropy_grad %h, %w, %labels dloss %scale
      : (tensor<16x16xf32>, tensor<48x16xf32>, tensor<16xi32>, tensor<f32>) -> (tensor<f32>, tensor<16x16xf32>, tensor<48x16xf32>)
  %n = qt.global_norm %dx, %dw : (tensor<16x16xf32>, tensor<48x16xf32>) -> tensor<f32>
  return %loss, %n : tensor<f32>, tensor<f32>
}
