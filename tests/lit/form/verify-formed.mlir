// The exit contract of the phase `formed`: what is left has a kernel, is a matrix product or a view, or a cluster will take it in.
// RUN: qcc-opt %s --verify-formed --split-input-file --verify-diagnostics

// Pointwise ops are for clusters, and so is what is repeated for them.
func.func @pointwise(%x: tensor<?x8xf32>, %c: tensor<?xf32>) -> tensor<?x8xf32> {
  %y = qt.silu %x {qt.scope = "layers.3.mlp"} : tensor<?x8xf32>
  %b = qt.broadcast %c dims [0] : tensor<?xf32> -> tensor<?x8xf32>
  %z = qt.add %y, %b : tensor<?x8xf32>, tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// -----

func.func @of_no_kernel(%x: tensor<?x8xf64>) -> tensor<?x8xf64> {
  // expected-error @below {{'qt.silu' op is left over in scope 'layers.3.mlp': expected compounds, linear ops, views and pointwise ops that a cluster can take (of f32 or bf16)}}
  %y = qt.silu %x {qt.scope = "layers.3.mlp"} : tensor<?x8xf64>
  return %y : tensor<?x8xf64>
}

// -----

func.func @repeated_for_another(%c: tensor<?xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{'qt.broadcast' op is left over: expected}}
  %b = qt.broadcast %c dims [0] : tensor<?xf32> -> tensor<?x8xf32>
  return %b : tensor<?x8xf32>
}

// -----

func.func @tensor_op(%docs: !qt.segments, %x: tensor<?x8x2xf32>) -> tensor<?x2x8xf32> {
  // expected-error @below {{'qt.transpose' op is left over: expected}}
  %y = qt.transpose %x [0, 2, 1] : tensor<?x8x2xf32> -> tensor<?x2x8xf32>
  // expected-error @below {{'qt.rope' op is left over: expected}}
  %z = qt.rope %docs, %y theta 1.0e4 dims 4 : !qt.segments, tensor<?x2x8xf32>
  return %z : tensor<?x2x8xf32>
}

// -----

qt.parameter @w : tensor<16x8xf32> init <zeros> names ["w"]
func.func @formed(%x: tensor<?x8xf32>) -> tensor<?x2x4xf32> {
  %w = qt.read @w : tensor<16x8xf32>
  %y = qt.linear %x, %w : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  %p:2 = qt.split %y dim 1 : tensor<?x16xf32> -> tensor<?x8xf32>, tensor<?x8xf32>
  %s = qt.swiglu %p#0, %p#1 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  qt.watch %s as "s" : tensor<?x8xf32>
  %r = qt.reshape %s : tensor<?x8xf32> -> tensor<?x2x4xf32>
  return %r : tensor<?x2x4xf32>
}

// -----

// What is repeated has a sum as its gradient: of a trained parameter, and of what comes from one. A frozen one has none.
qt.parameter @bias : tensor<8xf32> init <zeros> names ["bias"]
qt.parameter @scale : tensor<8xf32> init <zeros> names ["scale"]
qt.parameter @still : tensor<8xf32> frozen init <zeros> names ["still"]
qt.parameter_pack @pack [@bias, @scale] : tensor<16xf32>
func.func @trained(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-note @below {{@bias is read here}}
  %bias = qt.read @bias : tensor<8xf32>
  // expected-error @below {{'qt.add' op is left over in scope 'layers.3.mlp' and repeats an operand of 'tensor<8xf32>' that depends on a trained parameter: expected a compound that takes the op, or frozen parameters, for no kernel sums the operand's gradient}}
  %0 = qt.add %x, %bias {qt.scope = "layers.3.mlp"} : tensor<?x8xf32>, tensor<8xf32>
  %pack = qt.read @pack : tensor<16xf32>
  %parts:2 = qt.split %pack dim 0 : tensor<16xf32> -> tensor<8xf32>, tensor<8xf32>
  // What is not repeated is no sum.
  %1 = qt.exp %parts#1 : tensor<8xf32>
  // expected-error @below {{'qt.broadcast' op is left over and repeats an operand of 'tensor<8xf32>' that depends on a trained parameter}}
  %2 = qt.broadcast %1 dims [1] : tensor<8xf32> -> tensor<?x8xf32>
  %3 = qt.mul %0, %2 : tensor<?x8xf32>, tensor<?x8xf32>
  %still = qt.read @still : tensor<8xf32>
  %4 = qt.mul %3, %still : tensor<?x8xf32>, tensor<8xf32>
  return %4 : tensor<?x8xf32>
}
