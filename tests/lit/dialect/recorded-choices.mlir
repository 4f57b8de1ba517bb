// RUN: qcc-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: qcc-opt %s --split-input-file --verify-diagnostics | qcc-opt --split-input-file | FileCheck %s

// What a module records of its build survives printing and parsing, names that are no keywords included.

// CHECK: module attributes {qt.phase = #qt.phase<remat>, qt.remat = #qt.remat<"memory-bound">, qt.states = #qt.states<bf16>}
module attributes {qt.phase = #qt.phase<remat>, qt.remat = #qt.remat<"memory-bound">, qt.states = #qt.states<bf16>} {}

// -----

// CHECK: module attributes {qt.remat = #qt.remat<none>}
module attributes {qt.remat = #qt.remat<none>} {}

// -----

// expected-error@below {{expected none or "memory-bound", got all}}
module attributes {qt.remat = #qt.remat<all>} {}
