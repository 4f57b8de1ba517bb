// A softmax that is not the attention there is a kernel for is an error that says what differs: it is never raised.
// RUN: qcc-opt %s --raise-attention --split-input-file --verify-diagnostics

// Without a mask documents would leak.
func.func @unmasked(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>) -> tensor<2x?x8xf32> {
  %m = qt.contract %q, %k batch [1] x [1] over [2] x [2] : tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<2x?x?xf32>
  // expected-error @below {{'qt.softmax' op is not the attention there is a kernel for: expected a softmax of causally masked scores; got qt.contract}}
  %p = qt.softmax %m : tensor<2x?x?xf32>
  %o = qt.contract %p, %v batch [0] x [1] over [2] x [0] : tensor<2x?x?xf32>, tensor<?x2x8xf32> -> tensor<2x?x8xf32>
  return %o : tensor<2x?x8xf32>
}

// -----

// Scores without a dimension of heads.
func.func @no_heads(%docs: !qt.segments, %q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x?xf32> {
  %s = qt.contract %q, %k batch [] x [] over [1] x [1] : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x?xf32>
  %m = qt.causal_mask %docs, %s : !qt.segments, tensor<?x?xf32>
  // expected-error @below {{'qt.softmax' op is not the attention there is a kernel for: expected scores [heads, tokens, tokens]; got 2 dimensions}}
  %p = qt.softmax %m : tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}

// -----

// A bias on the scores is another attention.
func.func @biased(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %bias: tensor<2x?x?xf32>) -> tensor<2x?x8xf32> {
  %r = qt.contract %q, %k batch [1] x [1] over [2] x [2] : tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<2x?x?xf32>
  %s = qt.add %r, %bias : tensor<2x?x?xf32>, tensor<2x?x?xf32>
  %m = qt.causal_mask %docs, %s : !qt.segments, tensor<2x?x?xf32>
  // expected-error @below {{'qt.softmax' op is not the attention there is a kernel for: expected scores of one product of queries and keys; got qt.add}}
  %p = qt.softmax %m : tensor<2x?x?xf32>
  %o = qt.contract %p, %v batch [0] x [1] over [2] x [0] : tensor<2x?x?xf32>, tensor<?x2x8xf32> -> tensor<2x?x8xf32>
  return %o : tensor<2x?x8xf32>
}

// -----

// Keys without heads of their own.
func.func @shared_keys(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x2x8xf32>) -> tensor<2x?x8xf32> {
  %s0 = qt.contract %q, %k batch [] x [] over [2] x [1] : tensor<?x2x8xf32>, tensor<?x8xf32> -> tensor<?x2x?xf32>
  %s = qt.transpose %s0 [1, 0, 2] : tensor<?x2x?xf32> -> tensor<2x?x?xf32>
  %m = qt.causal_mask %docs, %s : !qt.segments, tensor<2x?x?xf32>
  // expected-error @below {{'qt.softmax' op is not the attention there is a kernel for: expected scores c q[b,a,s] k[c,a,s] for head a, query b and key c; got x[b,a,s] y[c,s]}}
  %p = qt.softmax %m : tensor<2x?x?xf32>
  %o = qt.contract %p, %v batch [0] x [1] over [2] x [0] : tensor<2x?x?xf32>, tensor<?x2x8xf32> -> tensor<2x?x8xf32>
  return %o : tensor<2x?x8xf32>
}

// -----

// Who else reads the weights would need all of them.
func.func @read_twice(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>) -> (tensor<2x?x8xf32>, tensor<2x?x?xf32>) {
  %s = qt.contract %q, %k batch [1] x [1] over [2] x [2] : tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<2x?x?xf32>
  %m = qt.causal_mask %docs, %s : !qt.segments, tensor<2x?x?xf32>
  // expected-error @below {{'qt.softmax' op is not the attention there is a kernel for: expected one reader of the softmax; got 2}}
  %p = qt.softmax %m : tensor<2x?x?xf32>
  %o = qt.contract %p, %v batch [0] x [1] over [2] x [0] : tensor<2x?x?xf32>, tensor<?x2x8xf32> -> tensor<2x?x8xf32>
  return %o, %p : tensor<2x?x8xf32>, tensor<2x?x?xf32>
}

// -----

// Nothing but a contraction with values follows.
func.func @weights_alone(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>) -> tensor<2x?x?xf32> {
  %s = qt.contract %q, %k batch [1] x [1] over [2] x [2] : tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<2x?x?xf32>
  %m = qt.causal_mask %docs, %s : !qt.segments, tensor<2x?x?xf32>
  // expected-error @below {{'qt.softmax' op is not the attention there is a kernel for: expected the softmax to be contracted with the values; got qt.scale}}
  %p = qt.softmax %m : tensor<2x?x?xf32>
  %o = qt.scale %p by 2.0 : tensor<2x?x?xf32>
  return %o : tensor<2x?x?xf32>
}

// -----

// The sum is over keys.
func.func @summed_over_queries(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>) -> tensor<2x?x8xf32> {
  %s = qt.contract %q, %k batch [1] x [1] over [2] x [2] : tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<2x?x?xf32>
  %m = qt.causal_mask %docs, %s : !qt.segments, tensor<2x?x?xf32>
  // expected-error @below {{'qt.softmax' op is not the attention there is a kernel for: expected the softmax to be contracted over the keys with values of the same heads; got p[a,s,b] v[s,a,c]}}
  %p = qt.softmax %m : tensor<2x?x?xf32>
  %o = qt.contract %p, %v batch [0] x [1] over [1] x [0] : tensor<2x?x?xf32>, tensor<?x2x8xf32> -> tensor<2x?x8xf32>
  return %o : tensor<2x?x8xf32>
}

// -----

// Heads read values of their own.
func.func @other_heads(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x8xf32>) -> tensor<2x?x8xf32> {
  %s = qt.contract %q, %k batch [1] x [1] over [2] x [2] : tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<2x?x?xf32>
  %m = qt.causal_mask %docs, %s : !qt.segments, tensor<2x?x?xf32>
  // expected-error @below {{'qt.softmax' op is not the attention there is a kernel for: expected the softmax to be contracted over the keys with values of the same heads; got p[a,b,s] v[s,c]}}
  %p = qt.softmax %m : tensor<2x?x?xf32>
  %o = qt.contract %p, %v batch [] x [] over [2] x [0] : tensor<2x?x?xf32>, tensor<?x8xf32> -> tensor<2x?x8xf32>
  return %o : tensor<2x?x8xf32>
}

// -----

// The kernel has one width.
func.func @value_width(%docs: !qt.segments, %q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x4xf32>) -> tensor<2x?x4xf32> {
  %s = qt.contract %q, %k batch [1] x [1] over [2] x [2] : tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<2x?x?xf32>
  %m = qt.causal_mask %docs, %s : !qt.segments, tensor<2x?x?xf32>
  // expected-error @below {{'qt.softmax' op is not the attention there is a kernel for: expected values of the keys' width 8; got 4}}
  %p = qt.softmax %m : tensor<2x?x?xf32>
  %o = qt.contract %p, %v batch [0] x [1] over [2] x [0] : tensor<2x?x?xf32>, tensor<?x2x4xf32> -> tensor<2x?x4xf32>
  return %o : tensor<2x?x4xf32>
}
