// Pointwise ops that no compound took: a warning for those that belong together, and in notes what was missed there.
// RUN: qcc-opt %s --form-gated-norm --form-attention-gate --form-swiglu --form-add-norm --warn-left-over --split-input-file --verify-diagnostics | FileCheck %s --implicit-check-not=qt.missed

// Layers that have the same share a warning; one that has more has its own.
// CHECK-LABEL: func.func @layers
func.func @layers(%x: tensor<?x8xbf16>, %y: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  // expected-warning @below {{no compound takes qt.silu, qt.sub in scope 'layers.0.mlp' of @layers, nor in 1 more of 'layers': computed by themselves, they read and write at least 48 bytes a token}}
  // expected-note @below {{missed swiglu: expected a product with the silu; got qt.sub}}
  %s0 = qt.silu %x {qt.scope = "layers.0.mlp"} : tensor<?x8xbf16>
  %r0 = qt.sub %s0, %y {qt.scope = "layers.0.mlp"} : tensor<?x8xbf16>, tensor<?x8xbf16>
  %s1 = qt.silu %r0 {qt.scope = "layers.1.mlp"} : tensor<?x8xbf16>
  %r1 = qt.sub %s1, %y {qt.scope = "layers.1.mlp"} : tensor<?x8xbf16>, tensor<?x8xbf16>
  // expected-warning @below {{no compound takes qt.silu, 2 qt.sub in scope 'layers.2.mlp' of @layers: computed}}
  // expected-note @below {{missed swiglu}}
  %s2 = qt.silu %r1 {qt.scope = "layers.2.mlp"} : tensor<?x8xbf16>
  %r2 = qt.sub %s2, %y {qt.scope = "layers.2.mlp"} : tensor<?x8xbf16>, tensor<?x8xbf16>
  %q2 = qt.sub %r2, %y {qt.scope = "layers.2.mlp"} : tensor<?x8xbf16>, tensor<?x8xbf16>
  return %q2 : tensor<?x8xbf16>
}

// -----

// A layer that has the same twice has two warnings, which it shares with layers that have it twice, too.
// CHECK-LABEL: func.func @twice
func.func @twice(%x: tensor<?x8xbf16>, %y: tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x8xbf16>) {
  // expected-warning @below {{no compound takes qt.exp in scope 'layers.0.mlp' of @twice, nor in 1 more of 'layers': computed}}
  %a0 = qt.exp %x {qt.scope = "layers.0.mlp"} : tensor<?x8xbf16>
  // expected-warning @below {{no compound takes qt.exp in scope 'layers.0.mlp' of @twice, nor in 1 more of 'layers': computed}}
  %b0 = qt.exp %y {qt.scope = "layers.0.mlp"} : tensor<?x8xbf16>
  %a1 = qt.exp %x {qt.scope = "layers.1.mlp"} : tensor<?x8xbf16>
  %b1 = qt.exp %y {qt.scope = "layers.1.mlp"} : tensor<?x8xbf16>
  return %a0, %b0, %a1, %b1 : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x8xbf16>
}

// -----

// What was missed at an op beside them, here the norm of a sum that is repeated; and nothing at all. A row that is added counts by itself.
// CHECK-LABEL: func.func @beside
func.func @beside(%x: tensor<?x8xf32>, %row: tensor<8xf32>, %w: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // expected-warning @below {{no compound takes qt.add in scope 'norm' of @beside: computed by themselves, they read and write at least 64 bytes a token and 32 bytes besides}}
  %a = qt.add %x, %row {qt.scope = "norm"} : tensor<?x8xf32>, tensor<8xf32>
  // expected-note @below {{missed add_rms_norm: expected a sum of two tensors of one shape}}
  %n = qt.rms_norm %a, %w eps 1.0e-6 {qt.scope = "norm"} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // expected-warning @below {{no compound takes qt.exp in scope 'head' of @beside: computed by themselves, they read and write at least 64 bytes a token}}
  %e = qt.exp %x {qt.scope = "head"} : tensor<?x8xf32>
  return %n, %e : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// All was taken: nothing to say. Nor of an op that is no pointwise one.
// CHECK-LABEL: func.func @taken
// CHECK: qt.swiglu
func.func @taken(%gate: tensor<?x8xf32>, %up: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = qt.silu %gate : tensor<?x8xf32>
  %y = qt.mul %s, %up : tensor<?x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
