// Under a budget the backward pass computes again what it takes to fit, the most bytes for the predicted time first, and no more.
// DEFINE: %{entries} = qcc-opt %S/../autodiff/Inputs/formed.mlir --mlir-print-op-on-diagnostic=false --build-entries --specialize-buckets=buckets=128x4x96x64 --fuse-gradient-sums
// RUN: %{entries} -o %t.fused.mlir

// What keeping everything takes is enough for the step, which is left as it is. One that accumulates has gradients of its own besides.
// RUN: %{entries} --lower-to-step | FileCheck %s --check-prefix=PLAN
// PLAN: step.layout state 23040 gradients 6144
// PLAN: step.entry @step.128x4x96x64 {{.*}} io 3840 transient 130048
// RUN: qcc-opt %t.fused.mlir --remat="policy=budget memory=156928" --verify-remat | FileCheck %s --check-prefix=ALL
// ALL-LABEL: func.func @step.128x4x96x64
// ALL-NOT: qt.barrier
// ALL-LABEL: func.func @accumulate.128x4x96x64
// ALL: qt.barrier

// A byte less: the delta rule runs again, and only its second run gives the inverse, which is most of it.
// RUN: qcc-opt %t.fused.mlir --remat="policy=budget memory=156927" --verify-remat -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: qcc-opt %t.mlir --lower-to-step | FileCheck %s --check-prefix=FITS
// CHECK-LABEL: func.func @step.128x4x96x64(
// CHECK-SAME: %[[DOCS:[a-z0-9]+]]: !qt.segments
// CHECK: %[[OUT:[a-z0-9_]+]] = qt.gated_delta_rule {{.*}} -> tensor<128x2x4xbf16>{{$}}
// CHECK-NOT: qt.recomputed
// CHECK: qt.linear_cross_entropy_grad
// CHECK-NOT: qt.recomputed
// CHECK: %[[Q:[a-z0-9_]+]] = qt.barrier %q after
// CHECK: %[[AGAIN:[a-z0-9_]+]], %[[INVERSE:[a-z0-9_]+]] = qt.gated_delta_rule %[[DOCS]], %[[Q]], {{.*}}qt.recomputed{{.*}} -> tensor<128x2x4xbf16> inverse tensor<128x2x64xf32>
// CHECK-NOT: qt.recomputed
// CHECK: qt.gated_rms_norm_grad %[[AGAIN]],
// CHECK: qt.gated_delta_rule_grad {{.*}} inverse %[[INVERSE]]
// CHECK-NOT: qt.recomputed
// CHECK-LABEL: func.func @accumulate
// FITS: step.entry @step.128x4x96x64 {{.*}} transient {{([0-9]{1,5}|1[012][0-9]{4})}} {

// Where even the residual stream and what is small are too much it is an error that says what would do.
// RUN: not qcc-opt %t.fused.mlir --mlir-print-op-on-diagnostic=false --remat="policy=budget memory=30000" 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: --memory: 30,000 bytes (0.000 GiB) are {{[0-9,]+}} bytes (0.000 GiB) too little for @step.128x4x96x64, with all computed again that helps; of 2 functions that do not fit it needs the most
// ERROR: note: at least [[LEAST:[0-9,]+]] bytes (0.000 GiB): state 23,040 bytes (0.000 GiB), transient {{[0-9,]+}} bytes (0.000 GiB), batch and tables 3,840 bytes (0.000 GiB), context, libraries and room for machine code 0 bytes (0.000 GiB); `qcc build` makes it less with --states bf16, or a smaller bucket

// RUN: not qcc-opt %t.fused.mlir --mlir-print-op-on-diagnostic=false --remat="policy=budget" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the policy budget: expected a budget of more than 0 bytes, got 0

// A kernel that the target lacks is missed before anything is planned.
// RUN: not qcc-opt %t.fused.mlir --mlir-print-op-on-diagnostic=false --remat="policy=budget memory=156928 disable-kernel=swiglu" 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: error: no kernel for 'qt.swiglu' on target cpu, in layers.0.mlp: kernel swiglu is disabled
