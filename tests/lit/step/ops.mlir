// RUN: qcc-opt %s | qcc-opt | FileCheck %s
// RUN: qcc-opt %s --emit-bytecode | qcc-opt | FileCheck %s
// RUN: qcc-opt %s --mlir-print-op-generic | qcc-opt | FileCheck %s

// A program reads like what it does: the layout of what outlives a step, then each entry's buffers, views and instructions.

qt.parameter @embed.weight : tensor<512x64xf32> init <normal, 0.0, 0.02> names ["embed.weight"]
qt.parameter @norm.weight : tensor<64xf32> init <zeros> names ["norm.weight"]
qt.state @norm.weight.exp_avg exp_avg of @norm.weight : tensor<64xf32>
qt.state @norm.weight.exp_avg_sq exp_avg_sq of @norm.weight : tensor<64xf32>
qt.state @norm.weight.gradient gradient of @norm.weight : tensor<64xf32>
qt.state @counters counters : tensor<2xi64>

// CHECK: step.layout state 132096 gradients 256 {
// CHECK-NEXT:   step.place @embed.weight state 0 : memref<512x64xf32>
// CHECK-NEXT:   step.place @norm.weight state 131072 : memref<64xf32>
// CHECK: step.place @norm.weight.gradient gradients 0 : memref<64xf32>
step.layout state 132096 gradients 256 {
  step.place @embed.weight state 0 : memref<512x64xf32>
  step.place @norm.weight state 131072 : memref<64xf32>
  step.place @norm.weight.exp_avg state 131328 : memref<64xf32>
  step.place @norm.weight.exp_avg_sq state 131584 : memref<64xf32>
  step.place @counters state 131840 : memref<2xi64>
  step.place @norm.weight.gradient gradients 0 : memref<64xf32>
}

// CHECK: step.entry @step_8 step bucket <8, 2, 8, 8> io 4096 transient 8192 {
step.entry @step_8 step bucket <8, 2, 8, 8> io 4096 transient 8192 {
  // CHECK-NEXT: %hyper = step.argument hyper 0 : memref<8xf32>
  %0 = step.argument hyper 0 : memref<8xf32>
  %seed = step.argument seed 512 : memref<i64>
  // CHECK: %loss = step.result loss 768 : memref<f32>
  %1 = step.result loss 768 : memref<f32>
  %norm = step.result grad_norm 1024 : memref<f32>
  %ids = step.argument ids 1280 : memref<8xi32>
  %docs = step.argument segments 1536 : memref<31xi32>
  // CHECK: %embed.weight = step.state @embed.weight : memref<512x64xf32>
  %2 = step.state @embed.weight : memref<512x64xf32>
  %w = step.state @norm.weight : memref<64xf32>
  %m = step.state @norm.weight.exp_avg : memref<64xf32>
  %v = step.state @norm.weight.exp_avg_sq : memref<64xf32>
  %c = step.state @counters : memref<2xi64>
  // CHECK: %t = step.transient 0 : memref<8x64xf32>
  %t = step.transient 0 : memref<8x64xf32>
  // CHECK: step.launch embedding(read %segments, read %ids, read %embed.weight, write %t) {qt.scope = "embed"} : memref<31xi32>, memref<8xi32>, memref<512x64xf32>, memref<8x64xf32>
  step.launch embedding(read %docs, read %ids, read %2, write %t) {qt.scope = "embed"}
      : memref<31xi32>, memref<8xi32>, memref<512x64xf32>, memref<8x64xf32>
  // CHECK: step.watch %t as "hidden.0" : memref<8x64xf32>
  step.watch %t as "hidden.0" : memref<8x64xf32>
  // An absent optional argument and parameters by name.
  // CHECK: step.launch rms_norm(read %t, read %norm.weight, write %t_{{[0-9]+}}, none) params(eps = 9.9999999999999995E-7) :
  %y = step.transient 2048 : memref<8x64xf32>
  step.launch rms_norm(read %t, read %w, write %y, none) params(eps = 1.0e-06) : memref<8x64xf32>, memref<64xf32>, memref<8x64xf32>
  // A view, and products with transposed factors, accumulating or not.
  // CHECK: %v = step.slice %{{.*}}[32] : memref<8x64xf32> -> memref<8x32xf32, strided<[64, 1]>>
  %half = step.slice %y[32] : memref<8x64xf32> -> memref<8x32xf32, strided<[64, 1]>>
  %p = step.transient 4096 : memref<8x8xf32>
  // CHECK: step.gemm write %[[P:.*]], read %v, read transpose %v : memref<8x8xf32>, memref<8x32xf32, strided<[64, 1]>>, memref<8x32xf32, strided<[64, 1]>>
  step.gemm write %p, read %half, read transpose %half
      : memref<8x8xf32>, memref<8x32xf32, strided<[64, 1]>>, memref<8x32xf32, strided<[64, 1]>>
  // CHECK: step.gemm inout %[[P]], read transpose %{{.*}}, read %{{.*}} : memref<8x8xf32>
  %q = step.transient 5120 : memref<8x8xf32>
  step.gemm inout %p, read transpose %q, read %q : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>
  // CHECK: step.copy write %{{.*}}, read %v
  %d = step.transient 6144 : memref<8x32xf32>
  step.copy write %d, read %half : memref<8x32xf32>, memref<8x32xf32, strided<[64, 1]>>
  // CHECK: step.fill write %[[G:.*]] : memref<64xf32>
  %g = step.transient 4608 : memref<64xf32>
  step.fill write %g : memref<64xf32>
  // CHECK: step.watch gradient %[[G]] as "norm.weight"
  step.watch gradient %g as "norm.weight" : memref<64xf32>
  // An expression: steps by the numbers of their values, after those of the inputs.
  // CHECK: step.launch pointwise(write %{{.*}}, none, none, none, read %{{.*}}, read %norm.weight) expression [2: silu(0), 3: mul(2, 1), 4: scale(3, 5.000000e-01)] results [4] {qt.scope = "mlp"} : memref<8x64xf32>, memref<8x64xf32>, memref<64xf32>
  %s = step.transient 0 : memref<8x64xf32>
  step.launch pointwise(write %s, none, none, none, read %y, read %w) expression [2: silu(0), 3: mul(2, 1), 4: scale(3, 0.5)] results [4] {qt.scope = "mlp"}
      : memref<8x64xf32>, memref<8x64xf32>, memref<64xf32>
  // None but the inputs: a cast.
  // CHECK: step.launch pointwise(write %{{.*}}, none, none, none, read %{{.*}}) expression [] results [0] : memref<8x64xbf16>, memref<8x64xf32>
  %n = step.transient 0 : memref<8x64xbf16>
  step.launch pointwise(write %n, none, none, none, read %y) expression [] results [0] : memref<8x64xbf16>, memref<8x64xf32>
  // A variadic argument, and a list of further parameters.
  // CHECK: step.launch global_norm(write %grad_norm, read %[[G]], read %[[G]])
  step.launch global_norm(write %norm, read %g, read %g) : memref<f32>, memref<64xf32>, memref<64xf32>
  // CHECK: params(decay = 0, [-9223372036854775808, 64])
  step.launch adamw(read %g, read %norm, read %c, read %0, read %seed, inout %w, inout %m, inout %v, none)
      params(decay = 0, [-9223372036854775808, 64])
      : memref<64xf32>, memref<f32>, memref<2xi64>, memref<8xf32>, memref<i64>, memref<64xf32>, memref<64xf32>, memref<64xf32>
}

// CHECK: step.entry @apply apply io 1280 transient 0 {
step.entry @apply apply io 1280 transient 0 {
}
