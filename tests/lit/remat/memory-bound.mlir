// Each layer's outputs of norms, convolution, gates and SwiGLU are computed again just before the backward pass first reads them, from inputs that are kept
// anyway; products, attention, the delta rule and the residual stream are not.
// RUN: qcc-opt %S/../autodiff/Inputs/formed.mlir --build-entries --specialize-buckets=buckets=128x4x96x64 --fuse-gradient-sums --remat=policy=memory-bound --verify-remat -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: qcc-opt %t.mlir | diff %t.mlir -
// Merging equal ops must not undo it: barriers keep what is computed again apart.
// RUN: qcc-opt %t.mlir --cse --canonicalize | FileCheck %s --check-prefix=CSE
// RUN: qcc-opt %S/../autodiff/Inputs/formed.mlir --build-entries --specialize-buckets=buckets=128x4x96x64 --fuse-gradient-sums -o %t.before.mlir
// RUN: qcc-opt %t.before.mlir --remat --verify-remat | diff %t.before.mlir -

// CHECK-LABEL: func.func @step(
// CHECK-NOT: qt.barrier

// CHECK-LABEL: func.func @step.128x4x96x64(
// CHECK-SAME: %[[DOCS:[a-z0-9]+]]: !qt.segments
// CHECK: %[[X0:.*]] = qt.embedding
// CHECK: qt.rms_norm %[[X0]],
// CHECK: %[[IN:.*]]:4 = qt.split
// CHECK: qt.gated_delta_inputs
// CHECK: %[[OUT:.*]], %[[INVERSE:.*]] = qt.gated_delta_rule
// CHECK: %[[Z:.*]] = qt.reshape %[[IN]]#1
// CHECK: qt.gated_rms_norm %[[OUT]], %[[Z]]
// CHECK: %[[SUM1:.*]], %{{.*}}, %{{.*}} = qt.add_rms_norm %[[X0]],
// CHECK: %[[GU:.*]]:2 = qt.split
// CHECK: qt.swiglu %[[GU]]#0, %[[GU]]#1
// CHECK: %[[SUM2:.*]], %{{.*}}, %{{.*}} = qt.add_rms_norm %[[SUM1]],
// CHECK: qt.qk_norm_rope %[[DOCS]], %[[QIN:[a-z0-9#]+]], %[[KIN:[a-z0-9#]+]],
// CHECK: %[[ATT:.*]], %{{.*}}, %{{.*}} = qt.attention
// CHECK: %[[ATTF:.*]] = qt.reshape %[[ATT]]
// CHECK-NOT: qt.barrier
// CHECK-NOT: qt.recomputed
// CHECK: qt.linear_cross_entropy_grad
// CHECK: %[[DX3:.*]], %{{.*}} = qt.add_rms_norm_grad

// Attention's output is kept.
// CHECK: qt.linear_weight_grad %[[DX3]], %[[ATTF]]
// CHECK: %[[DATT:.*]] = qt.reshape %{{.*}} : tensor<128x8xbf16> -> tensor<128x2x4xbf16>
// CHECK-NEXT: %[[BQ:.*]] = qt.barrier %[[QIN]] after %[[DATT]]
// CHECK-NEXT: %[[BK:.*]] = qt.barrier %[[KIN]] after %[[DATT]]
// Parameters are read again.
// CHECK-NEXT: %[[QW:.*]] = qt.read @layers.1.self_attn.q_norm.weight
// CHECK-NEXT: %[[KW:.*]] = qt.read @layers.1.self_attn.k_norm.weight
// Without residuals: the first computation's are kept.
// CHECK-NEXT: %[[Q:.*]], %[[K:.*]] = qt.qk_norm_rope %[[DOCS]], %[[BQ]], %[[BK]], %[[QW]], %[[KW]] {{.*}} -> tensor<128x2x4xbf16>, tensor<128x1x4xbf16>{{$}}
// CHECK-NEXT: qt.attention_grad %[[DOCS]], %[[Q]], %[[K]],
// CHECK: qt.qk_norm_rope_grad %[[DOCS]], %[[QIN]], %[[KIN]],

// The norm of a sum is computed from the sum, which is the residual stream.
// CHECK: %[[DQKV:.*]] = qt.join {{.*}} -> tensor<128x24xbf16>
// CHECK: %[[B2:.*]] = qt.barrier %[[SUM2]] after %[[DQKV]]
// CHECK-NEXT: %[[W2:.*]] = qt.read @layers.1.input_layernorm.weight
// CHECK-NEXT: %[[N2:.*]] = qt.rms_norm %[[B2]], %[[W2]] eps 9.9999999999999995E-7 {qt.recomputed, qt.scope = "layers.1.input_layernorm"} {{.*}} -> tensor<128x8xbf16>{{$}}
// CHECK-NEXT: qt.linear_weight_grad %[[DQKV]], %[[N2]]

// CHECK: %[[DX2:.*]], %{{.*}} = qt.add_rms_norm_grad %[[SUM2]],
// CHECK: %[[BG:.*]] = qt.barrier %[[GU]]#0 after %[[DX2]]
// CHECK-NEXT: %[[BU:.*]] = qt.barrier %[[GU]]#1 after %[[DX2]]
// CHECK-NEXT: %[[ACT:.*]] = qt.swiglu %[[BG]], %[[BU]] {qt.recomputed,
// CHECK-NEXT: qt.linear_weight_grad %[[DX2]], %[[ACT]]
// CHECK: qt.swiglu_grad %[[GU]]#0, %[[GU]]#1

// A view of what is computed again is made again.
// CHECK: %[[DX1:.*]], %{{.*}} = qt.add_rms_norm_grad %[[SUM1]],
// CHECK: %[[BO:.*]] = qt.barrier %[[OUT]] after %[[DX1]]
// CHECK-NEXT: %[[BZ:.*]] = qt.barrier %[[Z]] after %[[DX1]]
// CHECK: %[[Y:.*]] = qt.gated_rms_norm %[[BO]], %[[BZ]]
// CHECK-NEXT: %[[YF:.*]] = qt.reshape %[[Y]] : tensor
// CHECK-NEXT: qt.linear_weight_grad %[[DX1]], %[[YF]]

// One run for all outputs that are needed.
// CHECK: %[[DOUT:.*]], %{{.*}}, %{{.*}} = qt.gated_rms_norm_grad
// CHECK: qt.barrier %[[IN]]#0 after %[[DOUT]]
// CHECK: %[[Q2:.*]], %[[K2:.*]], %[[V2:.*]], %[[G2:.*]], %[[BETA2:.*]] = qt.gated_delta_inputs
// CHECK-NEXT: qt.gated_delta_rule_grad %[[DOCS]], %[[Q2]], %[[K2]], %[[V2]], %[[G2]], %[[BETA2]] inverse %[[INVERSE]] dout %[[DOUT]]
// CHECK: qt.gated_delta_inputs_grad %[[DOCS]], %[[IN]]#0,
// CHECK: qt.barrier %[[X0]] after
// CHECK: return

// CHECK-LABEL: func.func @accumulate.128x4x96x64(
// CHECK: qt.barrier
// CHECK-LABEL: func.func @eval.128x4x96x64(
// CHECK-NOT: qt.barrier

// CSE-LABEL: func.func @step.128x4x96x64(
// CSE-COUNT-2: qt.gated_delta_inputs %
// CSE: return
