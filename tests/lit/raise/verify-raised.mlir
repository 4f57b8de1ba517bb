// The exit contract of the phase `raised`.
// RUN: qcc-opt %s --verify-raised --split-input-file --verify-diagnostics

func.func @scan(%docs: !qt.segments, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{'qt.scan' op is left over in scope 'layers.0': expected every recurrence and attention to be raised}}
  %y = qt.scan %docs, %x state tensor<8xf32> {qt.scope = "layers.0"} : !qt.segments, tensor<?x8xf32> -> tensor<?x8xf32> {
  ^bb0(%s: tensor<8xf32>, %x_t: tensor<8xf32>):
    %next = qt.add %s, %x_t : tensor<8xf32>, tensor<8xf32>
    qt.yield %next, %next : tensor<8xf32>, tensor<8xf32>
  }
  return %y : tensor<?x8xf32>
}

// -----

func.func @softmax(%docs: !qt.segments, %x: tensor<2x?x?xf32>) -> tensor<2x?x?xf32> {
  // expected-error @below {{'qt.causal_mask' op is left over: expected}}
  %m = qt.causal_mask %docs, %x : !qt.segments, tensor<2x?x?xf32>
  // expected-error @below {{'qt.softmax' op is left over: expected}}
  %p = qt.softmax %m : tensor<2x?x?xf32>
  return %p : tensor<2x?x?xf32>
}

// -----

// Compounds pass, and so does what forming will take.
func.func @raised(%docs: !qt.segments, %q: tensor<?x2x8xf32>) -> tensor<?x2x8xf32> {
  %o = qt.attention %docs, %q, %q, %q scale 1.0 : (!qt.segments, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  %y = qt.silu %o : tensor<?x2x8xf32>
  return %y : tensor<?x2x8xf32>
}
