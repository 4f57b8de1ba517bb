// RUN: qcc-opt %s --split-input-file --verify-diagnostics

step.entry @e model bucket <8, 2, 8, 8> io 0 transient 0 {} // expected-error {{expected the kind step, accumulate, apply or eval, got model}}
// -----
// expected-error@below {{expected a bucket of 4 extents for an entry of kind step, got 0}}
step.entry @e step io 0 transient 0 {}
// -----
// expected-error@below {{expected a bucket of 0 extents for an entry of kind apply, got 4}}
step.entry @e apply bucket <8, 2, 8, 8> io 0 transient 0 {}
// -----
// expected-error@below {{expected a bucket of positive extents, got 0}}
step.entry @e step bucket <8, 0, 8, 8> io 0 transient 0 {}
// -----
// expected-error@below {{expected the kind of an entry, got 'stride'}}
step.entry @e stride io 0 transient 0 {}
// -----
step.entry @e apply io 0 transient 0 {
  // expected-error@below {{expected only ops of the step dialect in an entry}}
  %0 = qt.zeros : tensor<4xf32>
}
// -----
step.entry @e apply io 0 transient 256 {
  %0 = step.transient 0 : memref<4xf32>
  // expected-error@below {{expected an instruction before it}}
  step.watch %0 as "x" : memref<4xf32>
}
// -----
step.entry @e apply io 0 transient 256 {
  %0 = step.transient 0 : memref<4xf32>
  step.fill write %0 : memref<4xf32>
  // expected-error@below {{expected a name, got ""}}
  step.watch %0 as "" : memref<4xf32>
}
// -----
step.entry @e apply io 1024 transient 0 {
  %0 = step.argument hyper 0 : memref<8xf32>
  // expected-error@below {{expected one argument of the role hyper, got another}}
  %1 = step.argument hyper 256 : memref<8xf32>
}
// -----
step.entry @e apply io 1024 transient 0 {
  %0 = step.result loss 0 : memref<f32>
  // expected-error@below {{expected one result of the role loss, got another}}
  %1 = step.result loss 256 : memref<f32>
}
// -----
step.entry @e apply io 1024 transient 0 {
  // expected-note@below {{the other}}
  %0 = step.argument ids 0 : memref<65xi32>
  // expected-error@below {{expected memory of its own, got bytes 256 to 260, which another has}}
  %1 = step.result loss 256 : memref<f32>
}
// -----
step.entry @e apply io 1024 transient 0 {
  // expected-error@below {{expected the role of an argument, got 'loss'}}
  %0 = step.argument loss 0 : memref<65xi32>
}
// -----
step.entry @e apply io 1024 transient 0 {
  // expected-error@below {{expected the role of a result, got 'ids'}}
  %0 = step.result ids 0 : memref<65xi32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  // expected-error@below {{expected an offset that is a multiple of 256 bytes, got 128}}
  %0 = step.transient 128 : memref<4xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  // expected-error@below {{expected a static shape, got 'memref<?xf32>'}}
  %0 = step.transient 0 : memref<?xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  // expected-error@below {{expected a buffer without strides, got}}
  %0 = step.transient 0 : memref<4x4xf32, strided<[8, 1]>>
}
// -----
step.entry @e apply io 0 transient 1024 {
  // expected-error@below {{expected to end inside the transient space of 1024 bytes, got bytes 768 to 768 + 512}}
  %0 = step.transient 768 : memref<128xf32>
}
// -----
step.entry @e apply io 1024 transient 0 {
  // expected-error@below {{expected to end inside the io space of 1024 bytes, got bytes 1024 to 1024 + 4}}
  %0 = step.result loss 1024 : memref<f32>
}
// -----
step.entry @e apply io 0 transient 0 {
  // expected-error@below {{expected a symbol with a place in the module's step.layout, got @w}}
  %0 = step.state @w : memref<4xf32>
}
// -----
qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
step.layout state 256 gradients 0 {
  step.place @w state 0 : memref<4xf32>
}
step.entry @e apply io 0 transient 0 {
  // expected-error@below {{expected 'memref<4xf32>', the type of its place, got 'memref<8xf32>'}}
  %0 = step.state @w : memref<8xf32>
}
// -----
step.layout state 256 gradients 0 {
  // expected-error@below {{expected the name of a parameter, pack or state}}
  step.place @w state 0 : memref<4xf32>
}
// -----
qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
// expected-error@below {{expected a place for each parameter, pack and state, got none for @w}}
step.layout state 256 gradients 0 {
}
// -----
qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
step.layout state 256 gradients 0 {
  // expected-error@below {{expected 'memref<4xf32>' for 'tensor<4xf32>', got 'memref<5xf32>'}}
  step.place @w state 0 : memref<5xf32>
}
// -----
qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
step.layout state 0 gradients 256 {
  // expected-error@below {{expected the space state, got gradients}}
  step.place @w gradients 0 : memref<4xf32>
}
// -----
qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
step.layout state 256 gradients 0 {
  // expected-error@below {{expected the space state or gradients, got transient}}
  step.place @w transient 0 : memref<4xf32>
}
// -----
qt.parameter @w : tensor<4x2xf32> init <zeros> names ["w"]
qt.parameter_pack @p [@w] : tensor<4x2xf32>
step.layout state 512 gradients 0 {
  step.place @p state 0 : memref<4x2xf32>
  // expected-error@below {{expected no place for a member of a pack: it lies in the pack}}
  step.place @w state 256 : memref<4x2xf32>
}
// -----
qt.parameter @a : tensor<80xf32> init <zeros> names ["a"]
qt.parameter @b : tensor<4xf32> init <zeros> names ["b"]
step.layout state 512 gradients 0 {
  // expected-note@below {{the other}}
  step.place @a state 0 : memref<80xf32>
  // expected-error@below {{expected memory of its own, got bytes 256 to 272, which another has}}
  step.place @b state 256 : memref<4xf32>
}
// -----
qt.parameter @a : tensor<80xf32> init <zeros> names ["a"]
step.layout state 256 gradients 0 {
  // expected-error@below {{expected to end inside the state space of 256 bytes, got bytes 0 to 0 + 320}}
  step.place @a state 0 : memref<80xf32>
}
// -----
step.layout state 256 gradients 0 {
  // expected-error@below {{expected only step.place in a layout}}
  %0 = qt.zeros : tensor<4xf32>
}
// -----
step.layout state 0 gradients 0 {
}
// expected-error@below {{expected one layout in a module, got another}}
step.layout state 0 gradients 0 {
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.slice %0[4] : memref<4x8xf32> -> memref<4x4xf32, strided<[8, 1]>>
  // expected-error@below {{expected a view of a buffer, got a view of a view}}
  %2 = step.slice %1[0] : memref<4x4xf32, strided<[8, 1]>> -> memref<4x2xf32, strided<[8, 1]>>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{expected elements of the buffer's type 'f32', got 'bf16'}}
  %1 = step.slice %0[4] : memref<4x8xf32> -> memref<4x4xbf16, strided<[8, 1]>>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{expected a view of static shape with strides and no offset, got}}
  %1 = step.slice %0[4] : memref<4x8xf32> -> memref<4x4xf32, strided<[8, 1], offset: 4>>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{expected a view with elements, got}}
  %1 = step.slice %0[0] : memref<4x8xf32> -> memref<0x4xf32>
}
// -----
// The last element is 5 + 3 * 8 + 3 = 32, one past the end.
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{expected a view inside the buffer's 32 elements, got 'memref<4x4xf32, strided<[8, 1]>>' at element 5}}
  %1 = step.slice %0[5] : memref<4x8xf32> -> memref<4x4xf32, strided<[8, 1]>>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{expected a view inside the buffer's 32 elements}}
  %1 = step.slice %0[0] : memref<4x8xf32> -> memref<3x1xf32, strided<[9223372036854775807, 1]>>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{expected the name of a kernel, got 'rms'}}
  step.launch rms(read %0) : memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{kernel swiglu: expected 3 arguments, got 2}}
  step.launch swiglu(read %0, read %0) : memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  // expected-error@below {{kernel global_norm: expected at least 1 arguments, got 0}}
  step.launch global_norm()
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{kernel swiglu: argument 'y': expected write, got read}}
  step.launch swiglu(read %0, read %0, read %0) : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{kernel swiglu: argument 'up' is missing}}
  step.launch swiglu(read %0, none, write %0) : memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{expected read, write, inout or none, got 'readwrite'}}
  step.launch swiglu(readwrite %0, none, write %0) : memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<2x2x2x2x2xf32>
  // expected-error@below {{kernel swiglu: expected at most 4 dimensions, got}}
  step.launch swiglu(read %0, read %0, write %0) : memref<2x2x2x2x2xf32>, memref<2x2x2x2x2xf32>, memref<2x2x2x2x2xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.slice %0[0] : memref<4x8xf32> -> memref<8x4xf32, strided<[1, 8]>>
  // expected-error@below {{kernel swiglu: expected a last dimension of stride 1, got}}
  step.launch swiglu(read %1, read %1, write %1)
      : memref<8x4xf32, strided<[1, 8]>>, memref<8x4xf32, strided<[1, 8]>>, memref<8x4xf32, strided<[1, 8]>>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{kernel rms_norm: expected 1 parameters, got 0}}
  step.launch rms_norm(read %0, read %0, write %0, none) : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{expected the parameter 'eps' of kernel rms_norm, got 'epsilon'}}
  step.launch rms_norm(read %0, read %0, write %0, none) params(epsilon = 1.0) : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{kernel rms_norm has 1 parameters, got another, 'theta'}}
  step.launch rms_norm(read %0, read %0, write %0, none) params(eps = 1.0, theta = 1.0) : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<f32>
  // expected-error@below {{kernel optimizer_step: expected an operand for each of 2 arguments that are not none, got 1}}
  "step.launch"(%0) <{kernel = "optimizer_step", argument_effects = array<i32: 1, 3>, params = array<i64>, operandSegmentSizes = array<i32: 1, 0>}> : (memref<f32>) -> ()
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<f32>
  // expected-error@below {{kernel optimizer_step: expected effects of 0 to 3, got 4}}
  "step.launch"(%0, %0) <{kernel = "optimizer_step", argument_effects = array<i32: 1, 4>, params = array<i64>, operandSegmentSizes = array<i32: 2, 0>}> : (memref<f32>, memref<f32>) -> ()
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.transient 256 : memref<4x8xf32>
  // expected-error@below {{kernel pointwise: expected an expression, got none}}
  step.launch pointwise(write %0, none, none, none, read %1) : memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.transient 256 : memref<4x8xf32>
  // expected-error@below {{kernel pointwise: expression: value 1: mul: expected operands of the 1 values before it, got 1}}
  step.launch pointwise(write %0, none, none, none, read %1) expression [1: mul(0, 1)] results [1] : memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.transient 256 : memref<4x8xf32>
  // expected-error@below {{kernel pointwise: expression: expected results of its 2 values, got 2}}
  step.launch pointwise(write %0, none, none, none, read %1) expression [1: neg(0)] results [2] : memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.transient 256 : memref<4x8xf32>
  // expected-error@below {{kernel pointwise: expression: expected a value for each of 1 results, got 2}}
  step.launch pointwise(write %0, none, none, none, read %1) expression [1: neg(0)] results [0, 1] : memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.transient 256 : memref<4x8xf32>
  // expected-error@below {{expected an operation of an expression, got 'frob'}}
  step.launch pointwise(write %0, none, none, none, read %1) expression [1: frob(0)] results [1] : memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.transient 256 : memref<4x8xf32>
  // expected-error@below {{expected value 2, got 3}}
  step.launch pointwise(write %0, none, none, none, read %1) expression [1: neg(0), 3: neg(1)] results [2] : memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.transient 256 : memref<4x8xf32>
  // expected-error@below {{expected value 1, got 7}}
  step.launch pointwise(write %0, none, none, none, read %1) expression [7: neg(0), 8: neg(1)] results [2] : memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.transient 256 : memref<4x8xf32>
  // expected-error@below {{kernel add: only calls of pointwise have an expression}}
  step.launch add(inout %0, read %1) expression [2: neg(1)] results [2] : memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{kernel pointwise: expected at least 4 arguments, got 2}}
  step.launch pointwise(write %0, none) expression [0: neg(0)] results [0] : memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.transient 256 : memref<4x8xf32>
  // expected-error@below {{expected the numbers of an expression, got 2}}
  "step.launch"(%0, %1) <{kernel = "add", argument_effects = array<i32: 3, 1>, params = array<i64>, expression = array<i64: 1, 0>, operandSegmentSizes = array<i32: 2, 0>}> : (memref<4x8xf32>, memref<4x8xf32>) -> ()
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.transient 256 : memref<4x8xf32>
  // expected-error@below {{expected the numbers of an expression, got 260 among them}}
  "step.launch"(%0, %1) <{kernel = "pointwise", argument_effects = array<i32: 2, 0, 0, 0, 1>, params = array<i64>, expression = array<i64: 1, 260, 0, 0, 0, 1>, operandSegmentSizes = array<i32: 2, 0>}> : (memref<4x8xf32>, memref<4x8xf32>) -> ()
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<f32>
  // expected-error@below {{expected the name of a kernel, got "optimiser"}}
  "step.launch"(%0, %0) <{kernel = "optimiser", argument_effects = array<i32: 1, 3>, params = array<i64>}> : (memref<f32>, memref<f32>) -> ()
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<8xf32>
  // expected-error@below {{expected c to be a matrix, got 'memref<8xf32>'}}
  step.gemm write %0, read %0, read %0 : memref<8xf32>, memref<8xf32>, memref<8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.slice %0[0] : memref<4x8xf32> -> memref<4x8xf32, strided<[4, 1]>>
  // expected-error@below {{expected a to have rows without gaps that do not overlap, got}}
  step.gemm write %0, read %1, read %0 : memref<4x8xf32>, memref<4x8xf32, strided<[4, 1]>>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x4xi32>
  // expected-error@below {{expected c to be f32 or bf16, got}}
  step.gemm write %0, read %0, read %0 : memref<4x4xi32>, memref<4x4xi32>, memref<4x4xi32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x4xf32>
  %1 = step.transient 256 : memref<4x4xbf16>
  // expected-error@below {{expected a and b of one element type, got 'f32' and 'bf16'}}
  step.gemm write %0, read %0, read %1 : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xbf16>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x4xf32>
  %1 = step.transient 256 : memref<4x4xbf16>
  // expected-error@below {{expected c in 'f32' or f32, got 'bf16'}}
  step.gemm write %1, read %0, read %0 : memref<4x4xbf16>, memref<4x4xf32>, memref<4x4xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x4xbf16>
  %1 = step.transient 256 : memref<4x4xbf16>
  // expected-error@below {{expected to add to f32, got 'bf16'}}
  step.gemm inout %1, read %0, read %0 : memref<4x4xbf16>, memref<4x4xbf16>, memref<4x4xbf16>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{expected as many rows of b as columns of a (transposed as said), got [4, 8] x [4, 8]}}
  step.gemm write %0, read %0, read %0 : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{expected c to be [8, 8], got [4, 8]}}
  step.gemm write %0, read transpose %0, read %0 : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  // expected-error@below {{expected 'write' or 'inout'}}
  step.gemm read %0, read transpose %0, read %0 : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>
}
// -----
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.transient 256 : memref<8x4xf32>
  // expected-error@below {{expected a target of the source's shape and element type, got 'memref<8x4xf32>' and 'memref<4x8xf32>'}}
  step.copy write %1, read %0 : memref<8x4xf32>, memref<4x8xf32>
}
// -----
// The catalog's types hold too: the names stand for one extent each, and the segment table is that of the bucket.
step.entry @e step bucket <8, 2, 8, 8> io 1024 transient 1024 {
  %0 = step.transient 0 : memref<4x8xf32>
  %1 = step.transient 256 : memref<4x6xf32>
  // expected-error@below {{kernel swiglu: argument 'up': expected md[T,I] with T = 4, I = 8, md = f32, got f32[4, 6]}}
  step.launch swiglu(read %0, read %1, write %0) : memref<4x8xf32>, memref<4x6xf32>, memref<4x8xf32>
}
// -----
step.layout state 256 gradients 0 {
  step.place @w state 0 : memref<2xi64>
}
qt.state @w counters : tensor<2xi64>
step.entry @e apply io 0 transient 1024 {
  %0 = step.transient 0 : memref<f32>
  %1 = step.state @w : memref<2xi64>
  // expected-error@below {{kernel optimizer_step: expected the workspace in the arena}}
  step.launch optimizer_step(read %0, inout %1) workspace %1 : memref<f32>, memref<2xi64>, memref<2xi64>
}
