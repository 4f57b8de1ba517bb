// RUN: qcc-opt %s --verify-planned --split-input-file --verify-diagnostics

// The verifier derives everything from the instructions: each program below is wrong in one way only.

// expected-error@below {{expected every entry function with a bucket to be a step.entry, got a function}}
func.func @step.8(%docs: !qt.segments<8, 1, 8, 8> {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<step>} {
  return
}

// -----

// Both are in use at instruction 2.
step.entry @e apply io 0 transient 1024 {
  // expected-note@below {{shared with this buffer, in use at bytes 0 to 512 from instruction 0 to 2}}
  %a = step.transient 0 : memref<8x16xf32>
  // expected-error@below {{expected memory of its own while it is in use, got bytes 256 to 768 from instruction 1 to 2}}
  %b = step.transient 256 : memref<8x16xf32>
  %c = step.transient 512 : memref<8x16xf32>
  step.fill write %a : memref<8x16xf32>
  step.fill write %b : memref<8x16xf32>
  step.launch swiglu(read %a, read %b, write %c) : memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>
}

// -----

// The same bytes at different times are no conflict.
step.entry @e apply io 0 transient 1024 {
  %a = step.transient 0 : memref<8x16xf32>
  %b = step.transient 512 : memref<8x16xf32>
  %c = step.transient 0 : memref<8x16xf32>
  step.fill write %a : memref<8x16xf32>
  step.launch swiglu(read %a, read %a, write %b) : memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>
  step.launch swiglu(read %b, read %b, write %c) : memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>
}

// -----

// A watch is a use too.
step.entry @e apply io 0 transient 1024 {
  // expected-note@below {{shared with this buffer, in use at bytes 0 to 512 from instruction 0 to 1}}
  %a = step.transient 0 : memref<8x16xf32>
  // expected-error@below {{expected memory of its own while it is in use, got bytes 0 to 512 from instruction 1 to 1}}
  %b = step.transient 0 : memref<8x16xf32>
  step.fill write %a : memref<8x16xf32>
  step.fill write %b : memref<8x16xf32>
  step.watch %a as "a" : memref<8x16xf32>
}

// -----

step.entry @e apply io 0 transient 1024 {
  %a = step.transient 0 : memref<8x16xf32>
  %b = step.transient 512 : memref<8x16xf32>
  // expected-error@below {{expected to read elements that an instruction has written, got a read of 'memref<8x16xf32>' with others in it}}
  step.copy write %b, read %a : memref<8x16xf32>, memref<8x16xf32>
}

// -----

// Fifteen of sixteen columns are written.
step.entry @e apply io 0 transient 1024 {
  %a = step.transient 0 : memref<8x16xf32>
  %b = step.transient 512 : memref<8x16xf32>
  %part = step.slice %a[0] : memref<8x16xf32> -> memref<8x15xf32, strided<[16, 1]>>
  step.fill write %part : memref<8x15xf32, strided<[16, 1]>>
  // expected-error@below {{expected to read elements that an instruction has written}}
  step.copy write %b, read %a : memref<8x16xf32>, memref<8x16xf32>
}

// -----

// All sixteen, in two parts.
step.entry @e apply io 0 transient 1024 {
  %a = step.transient 0 : memref<8x16xf32>
  %b = step.transient 512 : memref<8x16xf32>
  %part = step.slice %a[0] : memref<8x16xf32> -> memref<8x15xf32, strided<[16, 1]>>
  %rest = step.slice %a[15] : memref<8x16xf32> -> memref<8x1xf32, strided<[16, 1]>>
  step.fill write %part : memref<8x15xf32, strided<[16, 1]>>
  step.fill write %rest : memref<8x1xf32, strided<[16, 1]>>
  step.copy write %b, read %a : memref<8x16xf32>, memref<8x16xf32>
}

// -----

step.entry @e apply io 0 transient 512 {
  %a = step.transient 0 : memref<8x16xf32>
  %part = step.slice %a[0] : memref<8x16xf32> -> memref<8x9xf32, strided<[16, 1]>>
  %rest = step.slice %a[8] : memref<8x16xf32> -> memref<8x8xf32, strided<[16, 1]>>
  step.fill write %part : memref<8x9xf32, strided<[16, 1]>>
  // expected-error@below {{expected each element to be written once and changed only through inout, got another write of operand 0}}
  step.fill write %rest : memref<8x8xf32, strided<[16, 1]>>
}

// -----

// Rows 0 to 4 and 4 to 7 share one.
step.entry @e apply io 0 transient 1024 {
  %a = step.transient 0 : memref<8x16xf32>
  %upper = step.slice %a[0] : memref<8x16xf32> -> memref<5x16xf32>
  %lower = step.slice %a[64] : memref<8x16xf32> -> memref<4x16xf32>
  step.fill write %upper : memref<5x16xf32>
  // expected-error@below {{expected each element to be written once and changed only through inout}}
  step.fill write %lower : memref<4x16xf32>
}

// -----

step.entry @e apply io 0 transient 1024 {
  %a = step.transient 0 : memref<8x16xf32>
  %left = step.slice %a[0] : memref<8x16xf32> -> memref<8x8xf32, strided<[16, 1]>>
  %right = step.slice %a[8] : memref<8x16xf32> -> memref<8x8xf32, strided<[16, 1]>>
  step.fill write %left : memref<8x8xf32, strided<[16, 1]>>
  // What it reads lies beside what it writes: fine. What it reads and writes at once is not.
  step.copy write %right, read %left : memref<8x8xf32, strided<[16, 1]>>, memref<8x8xf32, strided<[16, 1]>>
  // expected-error@below {{expected operand 0, which it writes, to share no element with another, got some in common with operand 1}}
  step.gemm inout %left, read %left, read %right
      : memref<8x8xf32, strided<[16, 1]>>, memref<8x8xf32, strided<[16, 1]>>, memref<8x8xf32, strided<[16, 1]>>
}

// -----

step.entry @e apply io 1024 transient 0 {
  %hyper = step.argument hyper 0 : memref<8xf32>
  // expected-error@below {{expected no write to an argument of the entry, got one to operand 0}}
  step.fill write %hyper : memref<8xf32>
}

// -----

step.entry @e apply io 1024 transient 0 {
  // expected-error@below {{expected a result that is written in full, got one that is not}}
  %norm = step.result grad_norm 0 : memref<f32>
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
step.layout state 256 gradients 0 {
  step.place @w state 0 : memref<4xf32>
}
step.entry @e apply io 1024 transient 0 {
  %norm = step.result grad_norm 0 : memref<f32>
  %w = step.state @w : memref<4xf32>
  step.fill write %w : memref<4xf32>
  // expected-error@below {{expected no use of a state after its final value is written, got a read of 'memref<4xf32>'}}
  step.launch global_norm(write %norm, read %w) : memref<f32>, memref<4xf32>
}

// -----

// Each state's value at entry is read before its update, and the counters after theirs.
qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.state @w.exp_avg exp_avg of @w : tensor<4xf32>
qt.state @w.exp_avg_sq exp_avg_sq of @w : tensor<4xf32>
qt.state @counters counters : tensor<2xi64>
step.layout state 1024 gradients 0 {
  step.place @w state 0 : memref<4xf32>
  step.place @w.exp_avg state 256 : memref<4xf32>
  step.place @w.exp_avg_sq state 512 : memref<4xf32>
  step.place @counters state 768 : memref<2xi64>
}
step.entry @e apply io 1024 transient 256 {
  %hyper = step.argument hyper 0 : memref<8xf32>
  %seed = step.argument seed 256 : memref<i64>
  %norm = step.result grad_norm 512 : memref<f32>
  %w = step.state @w : memref<4xf32>
  %m = step.state @w.exp_avg : memref<4xf32>
  %v = step.state @w.exp_avg_sq : memref<4xf32>
  %counters = step.state @counters : memref<2xi64>
  %g = step.transient 0 : memref<4xf32>
  step.fill write %g : memref<4xf32>
  step.launch global_norm(write %norm, read %g, read %w) : memref<f32>, memref<4xf32>, memref<4xf32>
  step.launch optimizer_step(read %norm, inout %counters) : memref<f32>, memref<2xi64>
  step.launch adamw(read %g, read %norm, read %counters, read %hyper, read %seed, inout %w, inout %m, inout %v, none) params(decay = 0, [1, 4])
      : memref<4xf32>, memref<f32>, memref<2xi64>, memref<8xf32>, memref<i64>, memref<4xf32>, memref<4xf32>, memref<4xf32>
  step.watch %w as "w" : memref<4xf32>
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.state @w.exp_avg exp_avg of @w : tensor<4xf32>
qt.state @w.exp_avg_sq exp_avg_sq of @w : tensor<4xf32>
qt.state @counters counters : tensor<2xi64>
step.layout state 1024 gradients 0 {
  step.place @w state 0 : memref<4xf32>
  step.place @w.exp_avg state 256 : memref<4xf32>
  step.place @w.exp_avg_sq state 512 : memref<4xf32>
  step.place @counters state 768 : memref<2xi64>
}
step.entry @e apply io 1024 transient 256 {
  %hyper = step.argument hyper 0 : memref<8xf32>
  %seed = step.argument seed 256 : memref<i64>
  %norm = step.result grad_norm 512 : memref<f32>
  %w = step.state @w : memref<4xf32>
  %m = step.state @w.exp_avg : memref<4xf32>
  %v = step.state @w.exp_avg_sq : memref<4xf32>
  %counters = step.state @counters : memref<2xi64>
  %g = step.transient 0 : memref<4xf32>
  step.fill write %g : memref<4xf32>
  step.launch global_norm(write %norm, read %g) : memref<f32>, memref<4xf32>
  step.launch optimizer_step(read %norm, inout %counters) : memref<f32>, memref<2xi64>
  step.launch adamw(read %g, read %norm, read %counters, read %hyper, read %seed, inout %w, inout %m, inout %v, none) params(decay = 0, [1, 4])
      : memref<4xf32>, memref<f32>, memref<2xi64>, memref<8xf32>, memref<i64>, memref<4xf32>, memref<4xf32>, memref<4xf32>
  // expected-error@below {{expected to read a state's value at entry, got a read of 'memref<4xf32>' after its update in place}}
  step.copy write %g, read %w : memref<4xf32>, memref<4xf32>
}

// -----

// Two of four elements.
qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.state @w.exp_avg exp_avg of @w : tensor<4xf32>
qt.state @w.exp_avg_sq exp_avg_sq of @w : tensor<4xf32>
qt.state @counters counters : tensor<2xi64>
step.layout state 1024 gradients 0 {
  step.place @w state 0 : memref<4xf32>
  step.place @w.exp_avg state 256 : memref<4xf32>
  step.place @w.exp_avg_sq state 512 : memref<4xf32>
  step.place @counters state 768 : memref<2xi64>
}
step.entry @e apply io 1024 transient 256 {
  %hyper = step.argument hyper 0 : memref<8xf32>
  %seed = step.argument seed 256 : memref<i64>
  %norm = step.result grad_norm 512 : memref<f32>
  %w = step.state @w : memref<4xf32>
  %m = step.state @w.exp_avg : memref<4xf32>
  %v = step.state @w.exp_avg_sq : memref<4xf32>
  %counters = step.state @counters : memref<2xi64>
  %g = step.transient 0 : memref<4xf32>
  step.fill write %g : memref<4xf32>
  step.launch global_norm(write %norm, read %g) : memref<f32>, memref<4xf32>
  step.launch optimizer_step(read %norm, inout %counters) : memref<f32>, memref<2xi64>
  step.launch adamw(read %g, read %norm, read %counters, read %hyper, read %seed, inout %w, inout %m, inout %v, none) params(decay = 0, [1, 4])
      : memref<4xf32>, memref<f32>, memref<2xi64>, memref<8xf32>, memref<i64>, memref<4xf32>, memref<4xf32>, memref<4xf32>
  %part = step.slice %m[2] : memref<4xf32> -> memref<2xf32>
  %rest = step.transient 0 : memref<2xf32>
  // expected-error@below {{expected to read a state's value at entry, got a read of 'memref<2xf32>' after its update in place}}
  step.copy write %rest, read %part : memref<2xf32>, memref<2xf32>
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.state @w.exp_avg exp_avg of @w : tensor<4xf32>
qt.state @w.exp_avg_sq exp_avg_sq of @w : tensor<4xf32>
qt.state @counters counters : tensor<2xi64>
step.layout state 1024 gradients 0 {
  step.place @w state 0 : memref<4xf32>
  step.place @w.exp_avg state 256 : memref<4xf32>
  step.place @w.exp_avg_sq state 512 : memref<4xf32>
  step.place @counters state 768 : memref<2xi64>
}
step.entry @e apply io 1024 transient 256 {
  %hyper = step.argument hyper 0 : memref<8xf32>
  %seed = step.argument seed 256 : memref<i64>
  %norm = step.result grad_norm 512 : memref<f32>
  %w = step.state @w : memref<4xf32>
  %m = step.state @w.exp_avg : memref<4xf32>
  %v = step.state @w.exp_avg_sq : memref<4xf32>
  %counters = step.state @counters : memref<2xi64>
  %g = step.transient 0 : memref<4xf32>
  step.fill write %g : memref<4xf32>
  step.launch global_norm(write %norm, read %g) : memref<f32>, memref<4xf32>
  step.launch optimizer_step(read %norm, inout %counters) : memref<f32>, memref<2xi64>
  step.launch adamw(read %g, read %norm, read %counters, read %hyper, read %seed, inout %w, inout %m, inout %v, none) params(decay = 0, [1, 4])
      : memref<4xf32>, memref<f32>, memref<2xi64>, memref<8xf32>, memref<i64>, memref<4xf32>, memref<4xf32>, memref<4xf32>
  // expected-error@below {{expected each element to be written once and changed only through inout, got another write of operand 0}}
  step.fill write %w : memref<4xf32>
}

// -----

// The step that an update corrects its moments by is counted before.
qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.state @w.exp_avg exp_avg of @w : tensor<4xf32>
qt.state @w.exp_avg_sq exp_avg_sq of @w : tensor<4xf32>
qt.state @counters counters : tensor<2xi64>
step.layout state 1024 gradients 0 {
  step.place @w state 0 : memref<4xf32>
  step.place @w.exp_avg state 256 : memref<4xf32>
  step.place @w.exp_avg_sq state 512 : memref<4xf32>
  step.place @counters state 768 : memref<2xi64>
}
step.entry @e apply io 1024 transient 256 {
  %hyper = step.argument hyper 0 : memref<8xf32>
  %seed = step.argument seed 256 : memref<i64>
  %norm = step.result grad_norm 512 : memref<f32>
  %w = step.state @w : memref<4xf32>
  %m = step.state @w.exp_avg : memref<4xf32>
  %v = step.state @w.exp_avg_sq : memref<4xf32>
  %counters = step.state @counters : memref<2xi64>
  %g = step.transient 0 : memref<4xf32>
  step.fill write %g : memref<4xf32>
  step.launch global_norm(write %norm, read %g) : memref<f32>, memref<4xf32>
  step.launch adamw(read %g, read %norm, read %counters, read %hyper, read %seed, inout %w, inout %m, inout %v, none) params(decay = 0, [1, 4])
      : memref<4xf32>, memref<f32>, memref<2xi64>, memref<8xf32>, memref<i64>, memref<4xf32>, memref<4xf32>, memref<4xf32>
  // expected-error@below {{expected to change a state before its new value is read, got operand 1 after that}}
  step.launch optimizer_step(read %norm, inout %counters) : memref<f32>, memref<2xi64>
}
