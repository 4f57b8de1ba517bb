// What the verifiers of the compounds of the gated delta net refuse.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics

func.func @gated_delta_inputs_qkv(%docs: !qt.segments, %qkv: tensor<?x9xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected qkv to have the channels of q, k and v, 2 * 4 + 8, got 9}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x9xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_b(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x9xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected b of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x9xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_a(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x9xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected a of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x9xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_a_log(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<9xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected a_log of type 'tensor<4xbf16>' or 'tensor<4xf32>', got 'tensor<9xf32>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<9xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_dt_bias(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<9xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected dt_bias of type 'tensor<4xbf16>' or 'tensor<4xf32>', got 'tensor<9xbf16>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<9xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_k(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected k of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x9xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_g(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected g of type 'tensor<?x4xf32>', got 'tensor<?x9xf32>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x9xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_beta(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected beta of type 'tensor<?x4xbf16>' or 'tensor<?x4xf32>', got 'tensor<?x9xbf16>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x9xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_qkv_rank(%docs: !qt.segments, %qkv: tensor<?x4x4xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected qkv of 2 dimensions, got 'tensor<?x4x4xbf16>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x4x4xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_conv_rank(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected conv_weight of 3 dimensions, got 'tensor<16x4xbf16>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_conv(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<15x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected conv_weight of type 'tensor<16x1x4xbf16>' or 'tensor<16x1x4xf32>', got 'tensor<15x1x4xbf16>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<15x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_q_rank(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected q of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x4xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_v_rank(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected v of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_q_tokens(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected q of type 'tensor<?x2x2xbf16>', got 'tensor<7x2x2xbf16>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<7x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_v_tokens(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected v of type 'tensor<?x4x2xbf16>', got 'tensor<7x4x2xbf16>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<7x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_g_type(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected g of type 'tensor<?x4xf32>', got 'tensor<?x4xbf16>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_beta_type(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected beta of type 'tensor<?x4xbf16>' or 'tensor<?x4xf32>', got 'tensor<?x4xf64>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xf64>)
  return
}

// -----

func.func @gated_delta_inputs_tokens(%docs: !qt.segments<128, 4, 64, 96>, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected qkv to have a row for each of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<?x16xbf16>'}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 1.0e-6 : (!qt.segments<128, 4, 64, 96>, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_inputs_eps(%docs: !qt.segments, %qkv: tensor<?x16xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %a_log: tensor<4xf32>, %dt_bias: tensor<4xbf16>) {
  // expected-error @below {{'qt.gated_delta_inputs' op expected eps to be finite and not negative, got nan}}
  %r:5 = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %conv, %a_log, %dt_bias eps 0xFFF8000000000000 : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  return
}

// -----

func.func @gated_delta_rule_k(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x9xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule' op expected k of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:2 = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x9xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>) -> tensor<?x4x2xbf16> inverse tensor<?x4x64xf32>
  return
}

// -----

func.func @gated_delta_rule_g(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x9xf32>, %beta: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule' op expected g of type 'tensor<?x4xf32>', got 'tensor<?x9xf32>'}}
  %r:2 = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x9xf32>, tensor<?x4xbf16>) -> tensor<?x4x2xbf16> inverse tensor<?x4x64xf32>
  return
}

// -----

func.func @gated_delta_rule_beta(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x9xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule' op expected beta of type 'tensor<?x4xbf16>' or 'tensor<?x4xf32>', got 'tensor<?x9xbf16>'}}
  %r:2 = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x9xbf16>) -> tensor<?x4x2xbf16> inverse tensor<?x4x64xf32>
  return
}

// -----

func.func @gated_delta_rule_out(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule' op expected out of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:2 = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>) -> tensor<?x4x9xbf16> inverse tensor<?x4x64xf32>
  return
}

// -----

func.func @gated_delta_rule_inverse(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule' op expected inverse of type 'tensor<?x4x64xf32>', got 'tensor<?x4x9xf32>'}}
  %r:2 = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>) -> tensor<?x4x2xbf16> inverse tensor<?x4x9xf32>
  return
}

// -----

func.func @gated_delta_rule_q_rank(%docs: !qt.segments, %q: tensor<?x4xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule' op expected q of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:2 = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 1.0 : (!qt.segments, tensor<?x4xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>) -> tensor<?x4x2xbf16> inverse tensor<?x4x64xf32>
  return
}

// -----

func.func @gated_delta_rule_v_rank(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule' op expected v of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:2 = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>) -> tensor<?x4x2xbf16> inverse tensor<?x4x64xf32>
  return
}

// -----

func.func @gated_delta_rule_v_type(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xf32>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule' op expected v of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x2xf32>'}}
  %r:2 = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xf32>, tensor<?x4xf32>, tensor<?x4xbf16>) -> tensor<?x4x2xbf16> inverse tensor<?x4x64xf32>
  return
}

// -----

func.func @gated_delta_rule_ratio(%docs: !qt.segments, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x3x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule' op expected the heads of v to be a multiple of those of q and k, got 3 and 2}}
  %r:2 = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 1.0 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x3x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>) -> tensor<?x3x2xbf16> inverse tensor<?x4x64xf32>
  return
}

// -----

func.func @gated_delta_rule_tokens(%docs: !qt.segments<128, 4, 64, 96>, %q: tensor<?x2x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x4x2xbf16>, %g: tensor<?x4xf32>, %beta: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.gated_delta_rule' op expected q to have a row for each of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<?x2x2xbf16>'}}
  %r:2 = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 1.0 : (!qt.segments<128, 4, 64, 96>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>) -> tensor<?x4x2xbf16> inverse tensor<?x4x64xf32>
  return
}
