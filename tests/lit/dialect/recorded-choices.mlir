// RUN: qcc-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: qcc-opt %s --split-input-file --verify-diagnostics | qcc-opt --split-input-file | FileCheck %s

// What a module records of its build survives printing and parsing, names that are no keywords included.

// CHECK: module attributes {qt.phase = #qt.phase<remat>, qt.remat = #qt.remat<"memory-bound">, qt.states = #qt.states<bf16>}
module attributes {qt.phase = #qt.phase<remat>, qt.remat = #qt.remat<"memory-bound">, qt.states = #qt.states<bf16>} {}

// -----

// CHECK: module attributes {qt.remat = #qt.remat<none>}
module attributes {qt.remat = #qt.remat<none>} {}

// -----

// CHECK: module attributes {qt.memory = 47000000000 : i64, qt.remat = #qt.remat<budget>}
module attributes {qt.memory = 47000000000 : i64, qt.remat = #qt.remat<budget>} {}

// -----

// expected-error@below {{expected none, "memory-bound" or budget, got all}}
module attributes {qt.remat = #qt.remat<all>} {}

// -----

// expected-error@below {{'builtin.module' op expected qt.memory to be a positive i64, got 0 : i64}}
module attributes {qt.memory = 0 : i64} {}
