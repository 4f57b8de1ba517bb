// What the verifiers of the adjoints of qk_norm_rope and attention refuse.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics

func.func @qk_norm_rope_grad_k_in(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x9xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected k_in of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x9xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_q_weight(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<9xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected q_weight of type 'tensor<2xbf16>' or 'tensor<2xf32>', got 'tensor<9xbf16>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<9xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_k_weight(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<9xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected k_weight of type 'tensor<2xbf16>' or 'tensor<2xf32>', got 'tensor<9xbf16>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<9xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_q_rstd(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x9xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected q_rstd of type 'tensor<?x4xf32>', got 'tensor<?x9xf32>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x9xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_k_rstd(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x9xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected k_rstd of type 'tensor<?x2xf32>', got 'tensor<?x9xf32>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x9xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_dq(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x9xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected dq of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x9xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_dk(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x9xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected dk of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x9xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_i(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<9xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected a value to add to of the gradient's type 'tensor<2xf32>', got 'tensor<9xf32>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<9xf32>, tensor<9xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_dq_in(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected dq_in of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x9xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_dk_in(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected dk_in of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x9xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_dq_weight(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected dq_weight of type 'tensor<2xbf16>' or 'tensor<2xf32>', got 'tensor<9xf32>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<9xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_dk_weight(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected dk_weight of type 'tensor<2xbf16>' or 'tensor<2xf32>', got 'tensor<9xf32>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<9xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_q_rank(%docs: !qt.segments, %q_in: tensor<?x4xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected q_in of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_k_rank(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x4xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected k_in of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x4xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_tokens(%docs: !qt.segments<128, 4, 64, 96>, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected q_in to have a row for each of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<?x4x2xbf16>'}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments<128, 4, 64, 96>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_dims(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected an even number of rotary dimensions from 2 to the head's 2, got 3}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta 1.0e4 dims 3 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_theta(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected theta to be finite and above 0, got -1}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps 1.0e-6 theta -1.0 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @qk_norm_rope_grad_eps(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>, %q_rstd: tensor<?x4xf32>, %k_rstd: tensor<?x2xf32>, %dq: tensor<?x4x2xbf16>, %dk: tensor<?x2x2xbf16>, %i: tensor<2xf32>) {
  // expected-error @below {{'qt.qk_norm_rope_grad' op expected eps to be finite and not negative, got -1}}
  %r:4 = qt.qk_norm_rope_grad %docs, %q_in, %k_in, %q_weight, %k_weight q_rstd %q_rstd k_rstd %k_rstd grads %dq, %dk into %i, %i eps -1.0 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @attention_grad_k(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x9xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>, %lse: tensor<?x4xf32>, %o: tensor<?x4x2xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected k of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v gate %gate lse %lse o %o dy %dy scale 1.0 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x9xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
  return
}

// -----

func.func @attention_grad_v(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x9xbf16>, %gate: tensor<?x4x2xbf16>, %lse: tensor<?x4xf32>, %o: tensor<?x4x2xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected v of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v gate %gate lse %lse o %o dy %dy scale 1.0 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x9xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
  return
}

// -----

func.func @attention_grad_gate(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x9xbf16>, %lse: tensor<?x4xf32>, %o: tensor<?x4x2xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected gate of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v gate %gate lse %lse o %o dy %dy scale 1.0 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x9xbf16>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
  return
}

// -----

func.func @attention_grad_lse(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>, %lse: tensor<?x9xf32>, %o: tensor<?x4x2xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected lse of type 'tensor<?x4xf32>', got 'tensor<?x9xf32>'}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v gate %gate lse %lse o %o dy %dy scale 1.0 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x9xf32>, tensor<?x4x2xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
  return
}

// -----

func.func @attention_grad_o(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>, %lse: tensor<?x4xf32>, %o: tensor<?x4x9xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected o of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v gate %gate lse %lse o %o dy %dy scale 1.0 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4x9xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
  return
}

// -----

func.func @attention_grad_dy(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>, %lse: tensor<?x4xf32>, %o: tensor<?x4x2xbf16>, %dy: tensor<?x4x9xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected dy of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v gate %gate lse %lse o %o dy %dy scale 1.0 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<?x4x9xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
  return
}

// -----

func.func @attention_grad_dq(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>, %lse: tensor<?x4xf32>, %o: tensor<?x4x2xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected dq of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v gate %gate lse %lse o %o dy %dy scale 1.0 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x9xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
  return
}

// -----

func.func @attention_grad_dk(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>, %lse: tensor<?x4xf32>, %o: tensor<?x4x2xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected dk of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v gate %gate lse %lse o %o dy %dy scale 1.0 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x9xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
  return
}

// -----

func.func @attention_grad_dv(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>, %lse: tensor<?x4xf32>, %o: tensor<?x4x2xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected dv of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v gate %gate lse %lse o %o dy %dy scale 1.0 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x9xbf16>, tensor<?x4x2xbf16>)
  return
}

// -----

func.func @attention_grad_dgate(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>, %lse: tensor<?x4xf32>, %o: tensor<?x4x2xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected dgate of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v gate %gate lse %lse o %o dy %dy scale 1.0 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x9xbf16>)
  return
}

// -----

func.func @attention_grad_q_rank(%docs: !qt.segments, %q: tensor<?x4xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>, %lse: tensor<?x4xf32>, %o: tensor<?x4x2xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected q of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v gate %gate lse %lse o %o dy %dy scale 1.0 : (!qt.segments, tensor<?x4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
  return
}

// -----

func.func @attention_grad_k_rank(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x4xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>, %lse: tensor<?x4xf32>, %o: tensor<?x4x2xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected k of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v gate %gate lse %lse o %o dy %dy scale 1.0 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x4xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
  return
}

// -----

func.func @attention_grad_tokens(%docs: !qt.segments<128, 4, 64, 96>, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>, %lse: tensor<?x4xf32>, %o: tensor<?x4x2xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected q to have a row for each of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<?x4x2xbf16>'}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v gate %gate lse %lse o %o dy %dy scale 1.0 : (!qt.segments<128, 4, 64, 96>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
  return
}

// -----

func.func @attention_grad_ratio(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x3x2xbf16>, %v: tensor<?x3x2xbf16>, %gate: tensor<?x4x2xbf16>, %lse: tensor<?x4xf32>, %o: tensor<?x4x2xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected the heads of q to be a multiple of those of k and v, got 4 and 3}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v gate %gate lse %lse o %o dy %dy scale 1.0 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x3x2xbf16>, tensor<?x3x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
  return
}

// -----

func.func @attention_grad_dgate_without_gate(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>, %lse: tensor<?x4xf32>, %o: tensor<?x4x2xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected dgate where there is a gate, and only there, got one without a gate}}
  %r:4 = qt.attention_grad %docs, %q, %k, %v lse %lse o %o dy %dy scale 1.0 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
  return
}

// -----

func.func @attention_grad_gate_without_dgate(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>, %dy: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention_grad' op expected dgate where there is a gate, and only there, got none}}
  %r:3 = qt.attention_grad %docs, %q, %k, %v gate %gate dy %dy scale 1.0 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>)
  return
}
