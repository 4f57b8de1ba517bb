// What the verifiers of the adjoints of the gated delta net refuse.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics

func.func @gated_delta_inputs_grad_qkv(%docs: !qt.segments, %qkv: tensor<?x9xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected qkv to have the channels of dq, dk and dv, 2 * 4 + 8, got 9}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x9xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_b(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x9xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected b of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x9xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_a(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x9xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected a of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x9xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_a_log(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<9xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected a_log of type 'tensor<4xbf16>' or 'tensor<4xf32>', got 'tensor<9xf32>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<9xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_dt_bias(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<9xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected dt_bias of type 'tensor<4xbf16>' or 'tensor<4xf32>', got 'tensor<9xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<9xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_dk(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x9xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected dk of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x9xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_dg(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x9xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected dg of type 'tensor<?x4xf32>', got 'tensor<?x9xf32>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x9xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_dbeta(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x9xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected dbeta of type 'tensor<?x4xbf16>' or 'tensor<?x4xf32>', got 'tensor<?x9xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x9xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_c(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x9xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected a value to add to of the gradient's type 'tensor<16x1x4xf32>', got 'tensor<16x1x9xf32>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x9xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_l(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<9xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected a value to add to of the gradient's type 'tensor<4xf32>', got 'tensor<9xf32>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<9xf32>, tensor<9xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_dqkv(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected dqkv of type 'tensor<?x16xbf16>', got 'tensor<?x9xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x9xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_db(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected db of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x9xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_da(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected da of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x9xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_dconv(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected dconv_weight of type 'tensor<16x1x4xbf16>' or 'tensor<16x1x4xf32>', got 'tensor<16x1x9xf32>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x9xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_da_log(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected da_log of type 'tensor<4xf32>', got 'tensor<9xf32>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<9xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_ddt_bias(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected ddt_bias of type 'tensor<4xbf16>' or 'tensor<4xf32>', got 'tensor<9xf32>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<9xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_qkv_rank(%docs: !qt.segments, %qkv: tensor<?x4x4xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected qkv of 2 dimensions, got 'tensor<?x4x4xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x4x4xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_conv_rank(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected conv_weight of 3 dimensions, got 'tensor<16x4xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_conv(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<15x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected conv_weight of type 'tensor<16x1x4xbf16>' or 'tensor<16x1x4xf32>', got 'tensor<15x1x4xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<15x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_dq_rank(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x4xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected dq of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x4xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_dv_rank(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected dv of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_dq_tokens(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<7x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected dq of type 'tensor<?x2x2xbf16>', got 'tensor<7x2x2xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<7x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_dv_tokens(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<7x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected dv of type 'tensor<?x4x2xbf16>', got 'tensor<7x4x2xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<7x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_dg_type(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xbf16>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected dg of type 'tensor<?x4xf32>', got 'tensor<?x4xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_da_log_type(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected da_log of type 'tensor<4xf32>', got 'tensor<4xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_tokens(%docs: !qt.segments<128, 4, 64, 96>, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected qkv to have a row for each of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<?x16xbf16>'}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps 1.0e-6 : (!qt.segments<128, 4, 64, 96>, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_one_into(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected a value to add to for each of the 3 weight gradients, or none, got 1}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_inputs_grad_eps(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>, %dq: tensor<?x2x2xbf16>, %dk: tensor<?x2x2xbf16>, %dv: tensor<?x4x2xbf16>, %dg: tensor<?x4xf32>, %dbeta: tensor<?x4xbf16>, %c: tensor<16x1x4xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{'qt.gated_delta_inputs_grad' op expected eps to be finite and not negative, got -1}}
  %r:6 = qt.gated_delta_inputs_grad %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias grads %dq, %dk, %dv, %dg, %dbeta into %c, %l, %l eps -1.0 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gated_delta_rule_grad_k(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x9xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>, %inverse: tensor<?x4x64xf32>, %dout: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected k of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x9xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?x4x64xf32>, tensor<?x4x2xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_rule_grad_g(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x9xf32>, %beta: tensor<?x4xbf16>, %inverse: tensor<?x4x64xf32>, %dout: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected g of type 'tensor<?x4xf32>', got 'tensor<?x9xf32>'}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x9xf32>, tensor<?x4xbf16>, tensor<?x4x64xf32>, tensor<?x4x2xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_rule_grad_beta(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x9xbf16>, %inverse: tensor<?x4x64xf32>, %dout: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected beta of type 'tensor<?x4xbf16>' or 'tensor<?x4xf32>', got 'tensor<?x9xbf16>'}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x9xbf16>, tensor<?x4x64xf32>, tensor<?x4x2xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_rule_grad_inverse(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>, %inverse: tensor<?x4x9xf32>, %dout: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected inverse of type 'tensor<?x4x64xf32>', got 'tensor<?x4x9xf32>'}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?x4x9xf32>, tensor<?x4x2xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_rule_grad_dout(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>, %inverse: tensor<?x4x64xf32>, %dout: tensor<?x4x9xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected dout of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?x4x64xf32>, tensor<?x4x9xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_rule_grad_dq(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>, %inverse: tensor<?x4x64xf32>, %dout: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected dq of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?x4x64xf32>, tensor<?x4x2xbf16>) -> (tensor<?x2x9xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_rule_grad_dk(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>, %inverse: tensor<?x4x64xf32>, %dout: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected dk of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?x4x64xf32>, tensor<?x4x2xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x9xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_rule_grad_dv(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>, %inverse: tensor<?x4x64xf32>, %dout: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected dv of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?x4x64xf32>, tensor<?x4x2xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x9xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_rule_grad_dg(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>, %inverse: tensor<?x4x64xf32>, %dout: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected dg of type 'tensor<?x4xf32>', got 'tensor<?x9xf32>'}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?x4x64xf32>, tensor<?x4x2xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x9xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_rule_grad_dbeta(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>, %inverse: tensor<?x4x64xf32>, %dout: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected dbeta of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?x4x64xf32>, tensor<?x4x2xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x9xbf16>)
  return
}

// -----

func.func @gated_delta_rule_grad_q_rank(%docs: !qt.segments, %q: tensor<?x4xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>, %inverse: tensor<?x4x64xf32>, %dout: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected q of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments, tensor<?x4xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?x4x64xf32>, tensor<?x4x2xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_rule_grad_v_rank(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>, %inverse: tensor<?x4x64xf32>, %dout: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected v of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?x4x64xf32>, tensor<?x4x2xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_rule_grad_v_type(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xf32>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>, %inverse: tensor<?x4x64xf32>, %dout: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected v of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x2xf32>'}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xf32>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?x4x64xf32>, tensor<?x4x2xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_rule_grad_ratio(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x3x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>, %inverse: tensor<?x4x64xf32>, %dout: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected the heads of v to be a multiple of those of q and k, got 3 and 2}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x3x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?x4x64xf32>, tensor<?x4x2xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_rule_grad_tokens(%docs: !qt.segments<128, 4, 64, 96>, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>, %inverse: tensor<?x4x64xf32>, %dout: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule_grad' op expected q to have a row for each of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<?x2x2xbf16>'}}
  %r:5 = qt.gated_delta_rule_grad %docs, %q, %k, %v, %g, %beta inverse %inverse dout %dout scale 1.0 : (!qt.segments<128, 4, 64, 96>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?x4x64xf32>, tensor<?x4x2xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}
