// RUN: qcc-opt %s --lower-to-step --verify-planned | FileCheck %s
// RUN: qcc-opt %s --lower-to-step | qcc-opt --verify-planned | FileCheck %s

// A model of one SwiGLU layer, its training step by hand: every kind of instruction, views that cost nothing, updates in place.

module attributes {qt.vocabulary = 32 : i64} {
  qt.parameter @embed.weight : tensor<32x8xf32> init <normal, 0.0, 0.02> names ["embed.weight"]
  qt.parameter @gate.weight : tensor<16x8xf32> init <normal, 0.0, 0.02> names ["gate.weight"]
  qt.parameter @up.weight : tensor<16x8xf32> init <normal, 0.0, 0.02> names ["up.weight"]
  qt.parameter_pack @gate_up [@gate.weight, @up.weight] : tensor<32x8xf32>
  qt.parameter @down.weight : tensor<8x16xf32> init <normal, 0.0, 0.02> names ["down.weight"]
  qt.parameter @norm.weight : tensor<8xf32> init <zeros> names ["norm.weight"]
  qt.state @gate_up.exp_avg exp_avg of @gate_up : tensor<32x8xf32>
  qt.state @gate_up.exp_avg_sq exp_avg_sq of @gate_up : tensor<32x8xf32>
  qt.state @counters counters : tensor<2xi64>
  qt.state @gate_up.gradient gradient of @gate_up : tensor<32x8xf32>

  // Weights, then moments, then counters; the gradients in a space of their own. 32*8*4 = 1024, 8*16*4 = 512, 8*4 = 32 -> 256 bytes.
  // CHECK:      step.layout state 5120 gradients 1024 {
  // CHECK-NEXT:   step.place @embed.weight state 0 : memref<32x8xf32>
  // CHECK-NEXT:   step.place @gate_up state 1024 : memref<32x8xf32>
  // CHECK-NEXT:   step.place @down.weight state 2048 : memref<8x16xf32>
  // CHECK-NEXT:   step.place @norm.weight state 2560 : memref<8xf32>
  // CHECK-NEXT:   step.place @gate_up.exp_avg state 2816 : memref<32x8xf32>
  // CHECK-NEXT:   step.place @gate_up.exp_avg_sq state 3840 : memref<32x8xf32>
  // CHECK-NEXT:   step.place @counters state 4864 : memref<2xi64>
  // CHECK-NEXT:   step.place @gate_up.gradient gradients 0 : memref<32x8xf32>
  // CHECK-NEXT: }

  // CHECK: step.entry @step_4 step bucket <4, 2, 4, 4> io
  func.func @step_4(%ids: tensor<4xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<4xi32> {qt.argument = #qt.argument<labels>},
                    %order: tensor<4xi32> {qt.argument = #qt.argument<embedding_order>},
                    %docs: !qt.segments<4, 2, 4, 4> {qt.argument = #qt.argument<segments>},
                    %inverse: tensor<f32> {qt.argument = #qt.argument<inverse_tokens>},
                    %hyper: tensor<8xf32> {qt.argument = #qt.argument<hyper>}, %seed: tensor<i64> {qt.argument = #qt.argument<seed>})
      -> (tensor<f32> {qt.result = #qt.result<loss>}, tensor<f32> {qt.result = #qt.result<grad_norm>})
      attributes {qt.entry = #qt.entry<step>} {
    // CHECK-DAG: %hyper = step.argument hyper 0 : memref<8xf32>
    // CHECK-DAG: %inverse_tokens = step.argument inverse_tokens 256 : memref<f32>
    // CHECK-DAG: %seed = step.argument seed 512 : memref<i64>
    // CHECK-DAG: %loss = step.result loss 768 : memref<f32>
    // CHECK-DAG: %grad_norm = step.result grad_norm 1024 : memref<f32>
    // CHECK-DAG: %ids = step.argument ids 1280 : memref<4xi32>
    // CHECK-DAG: %labels = step.argument labels 1536 : memref<4xi32>
    // CHECK-DAG: %embedding_order = step.argument embedding_order 1792 : memref<4xi32>
    // CHECK-DAG: %segments = step.argument segments 2048 : memref<23xi32>
    %embed = qt.read @embed.weight : tensor<32x8xf32>
    %gate_up = qt.read @gate_up : tensor<32x8xf32>
    %down = qt.read @down.weight : tensor<8x16xf32>
    %norm = qt.read @norm.weight : tensor<8xf32>

    // CHECK: step.launch embedding(read %segments, read %ids, read %embed.weight, write %[[X:.*]]) {qt.scope = "embed"}
    // CHECK-NEXT: step.watch %[[X]] as "hidden.0"
    %x = qt.embedding %docs, %ids, %embed {qt.scope = "embed"} : (!qt.segments<4, 2, 4, 4>, tensor<4xi32>, tensor<32x8xf32>) -> tensor<4x8xf32>
    qt.watch %x as "hidden.0" : tensor<4x8xf32>
    // CHECK: step.gemm write %[[GU:.*]], read %[[X]], read transpose %gate_up {qt.scope = "mlp.gate_up"} : memref<4x32xf32>
    // CHECK-DAG: %[[G:.*]] = step.slice %[[GU]][0] : memref<4x32xf32> -> memref<4x16xf32, strided<[32, 1]>>
    // CHECK-DAG: %[[U:.*]] = step.slice %[[GU]][16] : memref<4x32xf32> -> memref<4x16xf32, strided<[32, 1]>>
    // CHECK: step.launch swiglu(read %[[G]], read %[[U]], write %[[H:.*]])
    %gu = qt.linear %x, %gate_up {qt.scope = "mlp.gate_up"} : tensor<4x8xf32>, tensor<32x8xf32> -> tensor<4x32xf32>
    %g, %u = qt.split %gu dim 1 : tensor<4x32xf32> -> tensor<4x16xf32>, tensor<4x16xf32>
    %h = qt.swiglu %g, %u : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %d = qt.linear %h, %down : tensor<4x16xf32>, tensor<8x16xf32> -> tensor<4x8xf32>
    // CHECK: step.launch add_rms_norm(read %[[X]], read %{{.*}}, read %norm.weight, write %[[SUM:.*]], write %[[Y:.*]], write %[[RSTD:.*]]) params(eps = 5.000000e-01)
    %sum, %y, %rstd = qt.add_rms_norm %x, %d, %norm eps 0.5 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>)
        -> tensor<4x8xf32>, tensor<4x8xf32> rstd tensor<4xf32>
    // The head is the embedding: its gradient is where the embedding's is added. The loss is written where the host reads it; the tile of logits is workspace.
    // CHECK: step.launch linear_cross_entropy_grad(read %[[Y]], read %embed.weight, read %labels, read %inverse_tokens, write %loss, write %[[DY:.*]], write %[[DE:.*]]) workspace %{{.*}} :
    // CHECK-SAME: memref<128xf32>
    %loss, %dy, %dembed0 = qt.linear_cross_entropy_grad %y, %embed, %labels dloss %inverse
        : (tensor<4x8xf32>, tensor<32x8xf32>, tensor<4xi32>, tensor<f32>) -> (tensor<f32>, tensor<4x8xf32>, tensor<32x8xf32>)
    %dsum, %dnorm = qt.add_rms_norm_grad %sum, %norm rstd %rstd dy %dy eps 0.5
        : (tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
    // CHECK: step.gemm write %[[DH:.*]], read %[[DSUM:.*]], read %down.weight
    %dh = qt.linear_input_grad %dsum, %down : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
    // CHECK: step.gemm write %[[DDOWN:.*]], read transpose %[[DSUM]], read %[[H]]
    %ddown = qt.linear_weight_grad %dsum, %h : (tensor<4x8xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
    // Both halves are written in their places: the join costs nothing.
    // CHECK: %[[DG:.*]] = step.slice %[[DGU:.*]][0]
    // CHECK: %[[DU:.*]] = step.slice %[[DGU]][16]
    // CHECK: step.launch swiglu_grad(read %[[G]], read %[[U]], read %[[DH]], write %[[DG]], write %[[DU]])
    %dg, %du = qt.swiglu_grad %g, %u dy %dh : (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>)
    %dgu = qt.join %dg, %du dim 1 : tensor<4x16xf32>, tensor<4x16xf32> -> tensor<4x32xf32>
    // CHECK-NOT: step.copy
    // CHECK: step.gemm write %[[DX:.*]], read %[[DGU]], read %gate_up
    %dx = qt.linear_input_grad %dgu, %gate_up : tensor<4x32xf32>, tensor<32x8xf32> -> tensor<4x8xf32>
    // CHECK: step.gemm write %[[DGATEUP:.*]], read transpose %[[DGU]], read %[[X]]
    // CHECK-NEXT: step.watch gradient %[[DGATEUP]] as "gate_up"
    %dgate_up = qt.linear_weight_grad %dgu, %x : (tensor<4x32xf32>, tensor<4x8xf32>) -> tensor<32x8xf32>
    qt.watch gradient %dgate_up as "gate_up" : tensor<32x8xf32>
    // CHECK: step.launch embedding_grad(read %segments, read %ids, read %embedding_order, read %[[DX]], inout %[[DE]])
    %dembed = qt.embedding_grad %docs, %ids, %order, %dx into %dembed0
        : (!qt.segments<4, 2, 4, 4>, tensor<4xi32>, tensor<4xi32>, tensor<4x8xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
    // CHECK: step.launch global_norm(write %grad_norm, read %[[DE]], read %[[DGATEUP]], read %[[DDOWN]], read %{{.*}})
    %gn = qt.global_norm %dembed, %dgate_up, %ddown, %dnorm : (tensor<32x8xf32>, tensor<32x8xf32>, tensor<8x16xf32>, tensor<8xf32>) -> tensor<f32>
    // CHECK: step.launch optimizer_step(read %grad_norm, inout %counters)
    %c = qt.read @counters : tensor<2xi64>
    %c1 = qt.optimizer_step %gn, %c : (tensor<f32>, tensor<2xi64>) -> tensor<2xi64>
    // The weight and its moments are updated where they lie.
    // CHECK: step.launch adamw(read %[[DGATEUP]], read %grad_norm, read %counters, read %hyper, read %seed, inout %gate_up, inout %gate_up.exp_avg, inout %gate_up.exp_avg_sq, none) params(decay = 1, [7, 128, 8, 128])
    %m = qt.read @gate_up.exp_avg : tensor<32x8xf32>
    %v = qt.read @gate_up.exp_avg_sq : tensor<32x8xf32>
    %w1, %m1, %v1 = qt.adamw %dgate_up norm %gn counters %c1 hyper %hyper seed %seed weight %gate_up moments %m, %v decay true members [7, 128, 8, 128]
        : (tensor<32x8xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>)
        -> (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>)
    qt.update @counters, %c1 : tensor<2xi64>
    qt.update @gate_up, %w1 : tensor<32x8xf32>
    qt.update @gate_up.exp_avg, %m1 : tensor<32x8xf32>
    qt.update @gate_up.exp_avg_sq, %v1 : tensor<32x8xf32>
    // CHECK-NOT: step.copy
    // CHECK: {{^  }$}}
    return %loss, %gn : tensor<f32>, tensor<f32>
  }

  // Gradients become zero after all reads: filled in their place, no matter how many states share one value of zeros.
  // CHECK: step.entry @apply.program apply io 1280 transient 0 {
  // CHECK: step.launch global_norm(write %grad_norm, read %gate_up.gradient)
  // CHECK-NEXT: step.fill write %gate_up.gradient : memref<32x8xf32>
  // CHECK-NEXT: {{^  }$}}
  func.func @apply(%hyper: tensor<8xf32> {qt.argument = #qt.argument<hyper>}) -> (tensor<f32> {qt.result = #qt.result<grad_norm>})
      attributes {qt.entry = #qt.entry<apply>} {
    %0 = qt.zeros : tensor<32x8xf32>
    %g = qt.read @gate_up.gradient : tensor<32x8xf32>
    %n = qt.global_norm %g : (tensor<32x8xf32>) -> tensor<f32>
    qt.update @gate_up.gradient, %0 : tensor<32x8xf32>
    return %n : tensor<f32>
  }

  // What is made for any row stays, for further buckets.
  // CHECK: func.func @apply(
  // CHECK: func.func @step(
  func.func @step(%docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<step>} {
    return
  }
}
