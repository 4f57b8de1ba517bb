// The entry functions of a whole model: which exist, their roles, where gradients come from and what becomes of them.
// RUN: qcc-opt %S/Inputs/formed.mlir --build-entries --verify-grad -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: qcc-opt %t.mlir | diff %t.mlir -
// RUN: FileCheck %s --check-prefix=LAST < %t.mlir
// RUN: qcc-opt %S/Inputs/formed.mlir --build-entries=states=bf16 --verify-grad | FileCheck %s --check-prefix=BF16 --implicit-check-not=.master

// Each trained parameter or pack has its state; a member of a pack has none, a weight stored in f32 no master.
// CHECK-DAG: qt.state @optimizer.counters counters : tensor<2xi64>
// CHECK-DAG: qt.state @layers.0.linear_attn.in_proj.master master of @layers.0.linear_attn.in_proj : tensor<28x8xf32>
// CHECK-DAG: qt.state @layers.0.linear_attn.in_proj.exp_avg exp_avg of @layers.0.linear_attn.in_proj : tensor<28x8xf32>
// CHECK-DAG: qt.state @layers.0.linear_attn.in_proj.exp_avg_sq exp_avg_sq of @layers.0.linear_attn.in_proj : tensor<28x8xf32>
// CHECK-DAG: qt.state @layers.0.linear_attn.in_proj.gradient gradient of @layers.0.linear_attn.in_proj : tensor<28x8xf32>
// CHECK-DAG: qt.state @layers.0.linear_attn.A_log.exp_avg exp_avg of @layers.0.linear_attn.A_log : tensor<2xf32>
// CHECK-NOT: qt.state @layers.0.linear_attn.in_proj_qkv
// CHECK-NOT: qt.state @layers.0.linear_attn.A_log.master

// Without masters the moments have the weight's type; those of a weight in f32 stay f32. Gradients add up in f32.
// BF16-DAG: qt.state @layers.0.linear_attn.in_proj.exp_avg exp_avg of @layers.0.linear_attn.in_proj : tensor<28x8xbf16>
// BF16-DAG: qt.state @layers.0.linear_attn.in_proj.gradient gradient of @layers.0.linear_attn.in_proj : tensor<28x8xf32>
// BF16-DAG: qt.state @layers.0.linear_attn.A_log.exp_avg exp_avg of @layers.0.linear_attn.A_log : tensor<2xf32>

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[IDS:[a-z0-9]+]]: tensor<?xi32> {qt.argument = #qt.argument<ids>}
// CHECK-SAME: %[[DOCS:[a-z0-9]+]]: !qt.segments {qt.argument = #qt.argument<segments>}
// CHECK-SAME: %[[ORDER:[a-z0-9]+]]: tensor<?xi32> {qt.argument = #qt.argument<embedding_order>}
// CHECK-SAME: %[[INVERSE:[a-z0-9]+]]: tensor<f32> {qt.argument = #qt.argument<inverse_tokens>}
// CHECK-SAME: %[[HYPER:[a-z0-9]+]]: tensor<8xf32> {qt.argument = #qt.argument<hyper>}
// CHECK-SAME: %[[SEED:[a-z0-9]+]]: tensor<i64> {qt.argument = #qt.argument<seed>}
// CHECK-SAME: -> (tensor<f32> {qt.result = #qt.result<loss>}, tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<step>}
// CHECK: qt.watch %{{.*}} as "hidden.0"
// Residuals are asked for.
// CHECK: %{{.*}}, %[[RSTD0:.*]] = qt.rms_norm {{.*}} rstd tensor<?xf32>
// CHECK: %{{.*}}, %[[INV:.*]] = qt.gated_delta_rule {{.*}} inverse tensor<?x2x64xf32>
// CHECK: qt.add_rms_norm {{.*}} rstd tensor<?xf32>
// CHECK: qt.qk_norm_rope {{.*}} q_rstd tensor<?x2xf32> k_rstd tensor<?x1xf32>
// CHECK: qt.attention {{.*}} lse tensor<?x2xf32> o tensor<?x2x4xbf16>
// CHECK-NOT: qt.linear_cross_entropy %
// The tied weight has two contributions: both and their sum are f32. Others have the weight's type.
// CHECK: %[[LOSS:.*]], %{{.*}}, %[[DHEAD:.*]] = qt.linear_cross_entropy_grad {{.*}} dloss %[[INVERSE]] {qt.scope = "lm_head"} {{.*}} tensor<11x8xf32>)
// CHECK: qt.linear_weight_grad {{.*}} {qt.scope = "layers.1.self_attn.o_proj"} {{.*}} -> tensor<8x8xbf16>
// The gradients of q and gate, and of q, k and v, go back to one product.
// CHECK: %[[DQ_IN:.*]], %[[DK_IN:.*]], %{{.*}}, %{{.*}} = qt.qk_norm_rope_grad {{.*}}
// CHECK: qt.join {{.*}} dim 2 :
// CHECK: qt.join {{.*}} dim 1 : tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16> -> tensor<?x24xbf16>
// CHECK: qt.gated_delta_rule_grad {{.*}} inverse %[[INV]] dout
// CHECK: qt.rms_norm_grad {{.*}} rstd %[[RSTD0]] dy
// CHECK: %[[DEMBED:.*]] = qt.embedding_grad %[[DOCS]], %[[IDS]], %[[ORDER]], %{{.*}} {qt.scope = "embed_tokens"} {{.*}} -> tensor<11x8xf32>
// CHECK: %[[TIED:.*]] = qt.add %[[DHEAD]], %[[DEMBED]]
// CHECK: qt.watch gradient %[[TIED]] as "embed_tokens.weight"
// CHECK: qt.watch gradient %{{.*}} as "layers.0.linear_attn.in_proj"
// CHECK: %[[NORM:.*]] = qt.global_norm %[[TIED]], {{.*}} {qt.scope = "optimizer"}
// CHECK: %[[COUNTERS:.*]] = qt.read @optimizer.counters
// CHECK: %[[COUNTED:.*]] = qt.optimizer_step %[[NORM]], %[[COUNTERS]]
// CHECK: %[[NEW:.*]], %[[M:.*]], %[[V:.*]], %[[MASTER:.*]] = qt.adamw %[[TIED]] norm %[[NORM]] counters %[[COUNTED]] hyper %[[HYPER]] seed %[[SEED]] weight {{.*}} decay true members [{{[0-9]+}}, 88]
// A vector does not decay.
// CHECK: qt.adamw {{.*}} decay false members [{{[0-9]+}}, 8]
// The members of a pack, each with its key.
// CHECK: qt.adamw {{.*}} decay true members [{{[0-9]+}}, 128, {{[0-9]+}}, 64, {{[0-9]+}}, 16, {{[0-9]+}}, 16]
// CHECK: qt.update @optimizer.counters, %[[COUNTED]]
// CHECK: qt.update @embed_tokens.weight, %[[NEW]]
// CHECK: qt.update @embed_tokens.weight.exp_avg, %[[M]]
// CHECK: qt.update @embed_tokens.weight.exp_avg_sq, %[[V]]
// CHECK: qt.update @embed_tokens.weight.master, %[[MASTER]]
// CHECK: return %[[LOSS]], %[[NORM]]

// CHECK-LABEL: func.func @accumulate(
// CHECK-NOT: #qt.argument<hyper>
// CHECK-SAME: -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<accumulate>}
// CHECK-NOT: qt.watch
// CHECK: %[[BEFORE:.*]] = qt.read @embed_tokens.weight.gradient : tensor<11x8xf32>
// CHECK: %{{.*}}, %{{.*}}, %[[DHEAD2:.*]] = qt.linear_cross_entropy_grad
// CHECK-NEXT: %[[HALF:.*]] = qt.add %[[BEFORE]], %[[DHEAD2]]
// CHECK: %[[OLD:.*]] = qt.read @layers.1.self_attn.o_proj.weight.gradient
// CHECK-NEXT: %[[DW:.*]] = qt.linear_weight_grad {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: qt.add %[[OLD]], %[[DW]] {qt.scope = "layers.1.self_attn.o_proj"}
// CHECK: %[[DEMBED2:.*]] = qt.embedding_grad
// CHECK-NEXT: %[[WHOLE:.*]] = qt.add %[[HALF]], %[[DEMBED2]]
// CHECK: qt.update @embed_tokens.weight.gradient, %[[WHOLE]]
// CHECK-NOT: qt.adamw

// CHECK-LABEL: func.func @apply(%{{.*}}: tensor<8xf32> {qt.argument = #qt.argument<hyper>}, %{{.*}}: tensor<i64> {qt.argument = #qt.argument<seed>})
// CHECK-SAME: -> (tensor<f32> {qt.result = #qt.result<grad_norm>}) attributes {qt.entry = #qt.entry<apply>}
// CHECK: %[[G:.*]] = qt.read @embed_tokens.weight.gradient
// CHECK: qt.global_norm %[[G]],
// CHECK: qt.adamw %[[G]] norm
// CHECK: qt.update @embed_tokens.weight,
// CHECK: %[[ZEROS:.*]] = qt.zeros {qt.scope = "optimizer"} : tensor<11x8xf32>
// CHECK: qt.update @embed_tokens.weight.gradient, %[[ZEROS]]

// CHECK-LABEL: func.func @eval(
// CHECK-NOT: embedding_order
// CHECK-SAME: -> (tensor<f32> {qt.result = #qt.result<loss>}, tensor<?xf32> {qt.result = #qt.result<row_loss>}) attributes {qt.entry = #qt.entry<eval>}
// CHECK: qt.watch %{{.*}} as "hidden.2"
// CHECK: %[[L:.*]], %[[ROWS:.*]] = qt.linear_cross_entropy {{.*}} -> tensor<f32> row_loss tensor<?xf32>
// CHECK-NEXT: return %[[L]], %[[ROWS]]
// CHECK-NOT: #qt.entry<model>

// Updates come last: no kernel runs after the first one in a step.
// LAST-LABEL: func.func @step
// LAST: qt.update
// LAST-NOT: {{qt\.(adamw|read|global_norm)}}
// LAST-LABEL: func.func @accumulate
