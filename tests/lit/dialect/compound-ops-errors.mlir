// What the verifiers of the compound ops refuse.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics

func.func @add_rms_norm_delta(%x: tensor<?x4xbf16>, %delta: tensor<?x9xbf16>, %weight: tensor<4xbf16>) {
  // expected-error @below {{'qt.add_rms_norm' op expected delta of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:3 = qt.add_rms_norm %x, %delta, %weight eps 1.0e-6 : (tensor<?x4xbf16>, tensor<?x9xbf16>, tensor<4xbf16>) -> tensor<?x4xbf16>, tensor<?x4xbf16> rstd tensor<?xf32>
  return
}

// -----

func.func @add_rms_norm_weight(%x: tensor<?x4xbf16>, %delta: tensor<?x4xbf16>, %weight: tensor<9xbf16>) {
  // expected-error @below {{'qt.add_rms_norm' op expected weight of type 'tensor<4xbf16>' or 'tensor<4xf32>', got 'tensor<9xbf16>'}}
  %r:3 = qt.add_rms_norm %x, %delta, %weight eps 1.0e-6 : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<9xbf16>) -> tensor<?x4xbf16>, tensor<?x4xbf16> rstd tensor<?xf32>
  return
}

// -----

func.func @add_rms_norm_sum(%x: tensor<?x4xbf16>, %delta: tensor<?x4xbf16>, %weight: tensor<4xbf16>) {
  // expected-error @below {{'qt.add_rms_norm' op expected sum of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:3 = qt.add_rms_norm %x, %delta, %weight eps 1.0e-6 : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xbf16>) -> tensor<?x9xbf16>, tensor<?x4xbf16> rstd tensor<?xf32>
  return
}

// -----

func.func @add_rms_norm_y(%x: tensor<?x4xbf16>, %delta: tensor<?x4xbf16>, %weight: tensor<4xbf16>) {
  // expected-error @below {{'qt.add_rms_norm' op expected y of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:3 = qt.add_rms_norm %x, %delta, %weight eps 1.0e-6 : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xbf16>) -> tensor<?x4xbf16>, tensor<?x9xbf16> rstd tensor<?xf32>
  return
}

// -----

func.func @add_rms_norm_rstd(%x: tensor<?x4xbf16>, %delta: tensor<?x4xbf16>, %weight: tensor<4xbf16>) {
  // expected-error @below {{'qt.add_rms_norm' op expected rstd of type 'tensor<?xf32>', got 'tensor<9xf32>'}}
  %r:3 = qt.add_rms_norm %x, %delta, %weight eps 1.0e-6 : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xbf16>) -> tensor<?x4xbf16>, tensor<?x4xbf16> rstd tensor<9xf32>
  return
}

// -----

func.func @add_rms_norm_weight_type(%x: tensor<?x4xbf16>, %delta: tensor<?x4xbf16>, %weight: tensor<4xf64>) {
  // expected-error @below {{'qt.add_rms_norm' op expected weight of type 'tensor<4xbf16>' or 'tensor<4xf32>', got 'tensor<4xf64>'}}
  %r:3 = qt.add_rms_norm %x, %delta, %weight eps 1.0e-6 : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xf64>) -> tensor<?x4xbf16>, tensor<?x4xbf16> rstd tensor<?xf32>
  return
}

// -----

func.func @add_rms_norm_rstd_type(%x: tensor<?x4xbf16>, %delta: tensor<?x4xbf16>, %weight: tensor<4xbf16>) {
  // expected-error @below {{'qt.add_rms_norm' op expected rstd of type 'tensor<?xf32>', got 'tensor<?xbf16>'}}
  %r:3 = qt.add_rms_norm %x, %delta, %weight eps 1.0e-6 : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xbf16>) -> tensor<?x4xbf16>, tensor<?x4xbf16> rstd tensor<?xbf16>
  return
}

// -----

func.func @add_rms_norm_eps(%x: tensor<?x4xbf16>, %delta: tensor<?x4xbf16>, %weight: tensor<4xbf16>) {
  // expected-error @below {{'qt.add_rms_norm' op expected eps to be finite and not negative, got -1}}
  %r:3 = qt.add_rms_norm %x, %delta, %weight eps -1.0 : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xbf16>) -> tensor<?x4xbf16>, tensor<?x4xbf16> rstd tensor<?xf32>
  return
}

// -----

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

// -----

func.func @gated_rms_norm_z(%x: tensor<?x4x2xbf16>, %z: tensor<?x4x9xbf16>, %weight: tensor<2xf32>) {
  // expected-error @below {{'qt.gated_rms_norm' op expected z of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:2 = qt.gated_rms_norm %x, %z, %weight eps 1.0e-6 : (tensor<?x4x2xbf16>, tensor<?x4x9xbf16>, tensor<2xf32>) -> tensor<?x4x2xbf16> rstd tensor<?x4xf32>
  return
}

// -----

func.func @gated_rms_norm_weight(%x: tensor<?x4x2xbf16>, %z: tensor<?x4x2xbf16>, %weight: tensor<9xf32>) {
  // expected-error @below {{'qt.gated_rms_norm' op expected weight of type 'tensor<2xbf16>' or 'tensor<2xf32>', got 'tensor<9xf32>'}}
  %r:2 = qt.gated_rms_norm %x, %z, %weight eps 1.0e-6 : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<9xf32>) -> tensor<?x4x2xbf16> rstd tensor<?x4xf32>
  return
}

// -----

func.func @gated_rms_norm_y(%x: tensor<?x4x2xbf16>, %z: tensor<?x4x2xbf16>, %weight: tensor<2xf32>) {
  // expected-error @below {{'qt.gated_rms_norm' op expected y of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:2 = qt.gated_rms_norm %x, %z, %weight eps 1.0e-6 : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>) -> tensor<?x4x9xbf16> rstd tensor<?x4xf32>
  return
}

// -----

func.func @gated_rms_norm_rstd(%x: tensor<?x4x2xbf16>, %z: tensor<?x4x2xbf16>, %weight: tensor<2xf32>) {
  // expected-error @below {{'qt.gated_rms_norm' op expected rstd of type 'tensor<?x4xf32>', got 'tensor<?x9xf32>'}}
  %r:2 = qt.gated_rms_norm %x, %z, %weight eps 1.0e-6 : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>) -> tensor<?x4x2xbf16> rstd tensor<?x9xf32>
  return
}

// -----

func.func @gated_rms_norm_eps(%x: tensor<?x4x2xbf16>, %z: tensor<?x4x2xbf16>, %weight: tensor<2xf32>) {
  // expected-error @below {{'qt.gated_rms_norm' op expected eps to be finite and not negative, got -1}}
  %r:2 = qt.gated_rms_norm %x, %z, %weight eps -1.0 : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>) -> tensor<?x4x2xbf16> rstd tensor<?x4xf32>
  return
}

// -----

func.func @qk_norm_rope_k_in(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x9xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>) {
  // expected-error @below {{'qt.qk_norm_rope' op expected k_in of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:4 = qt.qk_norm_rope %docs, %q_in, %k_in, %q_weight, %k_weight eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x9xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16> q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>
  return
}

// -----

func.func @qk_norm_rope_q_weight(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<9xbf16>, %k_weight: tensor<2xbf16>) {
  // expected-error @below {{'qt.qk_norm_rope' op expected q_weight of type 'tensor<2xbf16>' or 'tensor<2xf32>', got 'tensor<9xbf16>'}}
  %r:4 = qt.qk_norm_rope %docs, %q_in, %k_in, %q_weight, %k_weight eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<9xbf16>, tensor<2xbf16>) -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16> q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>
  return
}

// -----

func.func @qk_norm_rope_k_weight(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<9xbf16>) {
  // expected-error @below {{'qt.qk_norm_rope' op expected k_weight of type 'tensor<2xbf16>' or 'tensor<2xf32>', got 'tensor<9xbf16>'}}
  %r:4 = qt.qk_norm_rope %docs, %q_in, %k_in, %q_weight, %k_weight eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<9xbf16>) -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16> q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>
  return
}

// -----

func.func @qk_norm_rope_q(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>) {
  // expected-error @below {{'qt.qk_norm_rope' op expected q of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:4 = qt.qk_norm_rope %docs, %q_in, %k_in, %q_weight, %k_weight eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<?x4x9xbf16>, tensor<?x2x2xbf16> q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>
  return
}

// -----

func.func @qk_norm_rope_k(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>) {
  // expected-error @below {{'qt.qk_norm_rope' op expected k of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:4 = qt.qk_norm_rope %docs, %q_in, %k_in, %q_weight, %k_weight eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<?x4x2xbf16>, tensor<?x2x9xbf16> q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>
  return
}

// -----

func.func @qk_norm_rope_q_rstd(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>) {
  // expected-error @below {{'qt.qk_norm_rope' op expected q_rstd of type 'tensor<?x4xf32>', got 'tensor<?x9xf32>'}}
  %r:4 = qt.qk_norm_rope %docs, %q_in, %k_in, %q_weight, %k_weight eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16> q_rstd tensor<?x9xf32> k_rstd tensor<?x2xf32>
  return
}

// -----

func.func @qk_norm_rope_k_rstd(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>) {
  // expected-error @below {{'qt.qk_norm_rope' op expected k_rstd of type 'tensor<?x2xf32>', got 'tensor<?x9xf32>'}}
  %r:4 = qt.qk_norm_rope %docs, %q_in, %k_in, %q_weight, %k_weight eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16> q_rstd tensor<?x4xf32> k_rstd tensor<?x9xf32>
  return
}

// -----

func.func @qk_norm_rope_q_rank(%docs: !qt.segments, %q_in: tensor<?x4xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>) {
  // expected-error @below {{'qt.qk_norm_rope' op expected q_in of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:4 = qt.qk_norm_rope %docs, %q_in, %k_in, %q_weight, %k_weight eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16> q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>
  return
}

// -----

func.func @qk_norm_rope_k_rank(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x4xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>) {
  // expected-error @below {{'qt.qk_norm_rope' op expected k_in of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:4 = qt.qk_norm_rope %docs, %q_in, %k_in, %q_weight, %k_weight eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x4xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16> q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>
  return
}

// -----

func.func @qk_norm_rope_tokens(%docs: !qt.segments<128, 4, 64, 96>, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>) {
  // expected-error @below {{'qt.qk_norm_rope' op expected q_in to have a row for each of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<?x4x2xbf16>'}}
  %r:4 = qt.qk_norm_rope %docs, %q_in, %k_in, %q_weight, %k_weight eps 1.0e-6 theta 1.0e4 dims 2 : (!qt.segments<128, 4, 64, 96>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16> q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>
  return
}

// -----

func.func @qk_norm_rope_dims_odd(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>) {
  // expected-error @below {{'qt.qk_norm_rope' op expected an even number of rotary dimensions from 2 to the head's 2, got 1}}
  %r:4 = qt.qk_norm_rope %docs, %q_in, %k_in, %q_weight, %k_weight eps 1.0e-6 theta 1.0e4 dims 1 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16> q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>
  return
}

// -----

func.func @qk_norm_rope_dims_wide(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>) {
  // expected-error @below {{'qt.qk_norm_rope' op expected an even number of rotary dimensions from 2 to the head's 2, got 4}}
  %r:4 = qt.qk_norm_rope %docs, %q_in, %k_in, %q_weight, %k_weight eps 1.0e-6 theta 1.0e4 dims 4 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16> q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>
  return
}

// -----

func.func @qk_norm_rope_theta(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>) {
  // expected-error @below {{'qt.qk_norm_rope' op expected theta to be finite and above 0, got 0}}
  %r:4 = qt.qk_norm_rope %docs, %q_in, %k_in, %q_weight, %k_weight eps 1.0e-6 theta 0.0 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16> q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>
  return
}

// -----

func.func @qk_norm_rope_eps(%docs: !qt.segments, %q_in: tensor<?x4x2xbf16>, %k_in: tensor<?x2x2xbf16>, %q_weight: tensor<2xbf16>, %k_weight: tensor<2xbf16>) {
  // expected-error @below {{'qt.qk_norm_rope' op expected eps to be finite and not negative, got -1}}
  %r:4 = qt.qk_norm_rope %docs, %q_in, %k_in, %q_weight, %k_weight eps -1.0 theta 1.0e4 dims 2 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16> q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>
  return
}

// -----

func.func @attention_k(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x9xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention' op expected k of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:3 = qt.attention %docs, %q, %k, %v gate %gate scale 0.5 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x9xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>) -> tensor<?x4x2xbf16> lse tensor<?x4xf32> o tensor<?x4x2xbf16>
  return
}

// -----

func.func @attention_v(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x9xbf16>, %gate: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention' op expected v of type 'tensor<?x2x2xbf16>', got 'tensor<?x2x9xbf16>'}}
  %r:3 = qt.attention %docs, %q, %k, %v gate %gate scale 0.5 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x9xbf16>, tensor<?x4x2xbf16>) -> tensor<?x4x2xbf16> lse tensor<?x4xf32> o tensor<?x4x2xbf16>
  return
}

// -----

func.func @attention_gate(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x9xbf16>) {
  // expected-error @below {{'qt.attention' op expected gate of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:3 = qt.attention %docs, %q, %k, %v gate %gate scale 0.5 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x9xbf16>) -> tensor<?x4x2xbf16> lse tensor<?x4xf32> o tensor<?x4x2xbf16>
  return
}

// -----

func.func @attention_y(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention' op expected y of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:3 = qt.attention %docs, %q, %k, %v gate %gate scale 0.5 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>) -> tensor<?x4x9xbf16> lse tensor<?x4xf32> o tensor<?x4x2xbf16>
  return
}

// -----

func.func @attention_lse(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention' op expected lse of type 'tensor<?x4xf32>', got 'tensor<?x9xf32>'}}
  %r:3 = qt.attention %docs, %q, %k, %v gate %gate scale 0.5 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>) -> tensor<?x4x2xbf16> lse tensor<?x9xf32> o tensor<?x4x2xbf16>
  return
}

// -----

func.func @attention_o(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention' op expected o of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:3 = qt.attention %docs, %q, %k, %v gate %gate scale 0.5 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>) -> tensor<?x4x2xbf16> lse tensor<?x4xf32> o tensor<?x4x9xbf16>
  return
}

// -----

func.func @attention_q_rank(%docs: !qt.segments, %q: tensor<?x4xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention' op expected q of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:3 = qt.attention %docs, %q, %k, %v gate %gate scale 0.5 : (!qt.segments, tensor<?x4xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>) -> tensor<?x4x2xbf16> lse tensor<?x4xf32> o tensor<?x4x2xbf16>
  return
}

// -----

func.func @attention_k_rank(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x4xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention' op expected k of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r:3 = qt.attention %docs, %q, %k, %v gate %gate scale 0.5 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x4xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>) -> tensor<?x4x2xbf16> lse tensor<?x4xf32> o tensor<?x4x2xbf16>
  return
}

// -----

func.func @attention_tokens(%docs: !qt.segments<128, 4, 64, 96>, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention' op expected q to have a row for each of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<?x4x2xbf16>'}}
  %r:3 = qt.attention %docs, %q, %k, %v gate %gate scale 0.5 : (!qt.segments<128, 4, 64, 96>, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>) -> tensor<?x4x2xbf16> lse tensor<?x4xf32> o tensor<?x4x2xbf16>
  return
}

// -----

func.func @attention_ratio(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x3x2xbf16>, %v: tensor<?x3x2xbf16>, %gate: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention' op expected the heads of q to be a multiple of those of k and v, got 4 and 3}}
  %r:3 = qt.attention %docs, %q, %k, %v gate %gate scale 0.5 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x3x2xbf16>, tensor<?x3x2xbf16>, tensor<?x4x2xbf16>) -> tensor<?x4x2xbf16> lse tensor<?x4xf32> o tensor<?x4x2xbf16>
  return
}

// -----

func.func @attention_o_without_gate(%docs: !qt.segments, %q: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %v: tensor<?x2x2xbf16>, %gate: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.attention' op expected a gate where o, the output before it, is asked for}}
  %r:3 = qt.attention %docs, %q, %k, %v scale 0.5 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>) -> tensor<?x4x2xbf16> lse tensor<?x4xf32> o tensor<?x4x2xbf16>
  return
}

// -----

func.func @swiglu_up(%gate: tensor<?x4xbf16>, %up: tensor<?x9xbf16>) {
  // expected-error @below {{'qt.swiglu' op expected up of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r = qt.swiglu %gate, %up : (tensor<?x4xbf16>, tensor<?x9xbf16>) -> tensor<?x4xbf16>
  return
}

// -----

func.func @swiglu_y(%gate: tensor<?x4xbf16>, %up: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.swiglu' op expected y of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r = qt.swiglu %gate, %up : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<?x9xbf16>
  return
}

// -----

func.func @gather_rows_out(%docs: !qt.segments, %x: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.gather_rows' op expected out of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r = qt.gather_rows %docs, %x : (!qt.segments, tensor<?x4xbf16>) -> tensor<?x9xbf16>
  return
}

// -----

func.func @gather_rows_scalar(%docs: !qt.segments, %x: tensor<f32>) {
  // expected-error @below {{'qt.gather_rows' op expected x of at least 1 dimensions, got 'tensor<f32>'}}
  %r = qt.gather_rows %docs, %x : (!qt.segments, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @gather_rows_rank(%docs: !qt.segments, %x: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.gather_rows' op expected out of 2 dimensions, got 'tensor<?xbf16>'}}
  %r = qt.gather_rows %docs, %x : (!qt.segments, tensor<?x4xbf16>) -> tensor<?xbf16>
  return
}

// -----

func.func @gather_rows_type(%docs: !qt.segments, %x: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.gather_rows' op expected out of type 'tensor<?x4xbf16>', got 'tensor<?x4xf32>'}}
  %r = qt.gather_rows %docs, %x : (!qt.segments, tensor<?x4xbf16>) -> tensor<?x4xf32>
  return
}

// -----

func.func @gather_rows_tokens(%docs: !qt.segments<128, 4, 64, 96>, %x: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.gather_rows' op expected x to have a row for each of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<?x4xbf16>'}}
  %r = qt.gather_rows %docs, %x : (!qt.segments<128, 4, 64, 96>, tensor<?x4xbf16>) -> tensor<?x4xbf16>
  return
}

// -----

func.func @gather_rows_trained(%docs: !qt.segments<128, 4, 64, 96>, %x: tensor<128x4xbf16>) {
  // expected-error @below {{'qt.gather_rows' op expected out to have the 96 trained rows of '!qt.segments<128, 4, 64, 96>', got 'tensor<64x4xbf16>'}}
  %r = qt.gather_rows %docs, %x : (!qt.segments<128, 4, 64, 96>, tensor<128x4xbf16>) -> tensor<64x4xbf16>
  return
}

// -----

func.func @linear_cross_entropy_weight(%x: tensor<?x4xbf16>, %weight: tensor<8x9xbf16>, %labels: tensor<?xi32>) {
  // expected-error @below {{'qt.linear_cross_entropy' op expected weight of type 'tensor<8x4xbf16>', got 'tensor<8x9xbf16>'}}
  %r:2 = qt.linear_cross_entropy %x, %weight, %labels : (tensor<?x4xbf16>, tensor<8x9xbf16>, tensor<?xi32>) -> tensor<f32> row_loss tensor<?xf32>
  return
}

// -----

func.func @linear_cross_entropy_labels(%x: tensor<?x4xbf16>, %weight: tensor<8x4xbf16>, %labels: tensor<9xi32>) {
  // expected-error @below {{'qt.linear_cross_entropy' op expected labels of type 'tensor<?xi32>', got 'tensor<9xi32>'}}
  %r:2 = qt.linear_cross_entropy %x, %weight, %labels : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<9xi32>) -> tensor<f32> row_loss tensor<?xf32>
  return
}

// -----

func.func @linear_cross_entropy_row_loss(%x: tensor<?x4xbf16>, %weight: tensor<8x4xbf16>, %labels: tensor<?xi32>) {
  // expected-error @below {{'qt.linear_cross_entropy' op expected row_loss of type 'tensor<?xf32>', got 'tensor<9xf32>'}}
  %r:2 = qt.linear_cross_entropy %x, %weight, %labels : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<?xi32>) -> tensor<f32> row_loss tensor<9xf32>
  return
}

// -----

func.func @linear_cross_entropy_x_rank(%x: tensor<?x4x2xbf16>, %weight: tensor<8x4xbf16>, %labels: tensor<?xi32>) {
  // expected-error @below {{'qt.linear_cross_entropy' op expected x of 2 dimensions, got 'tensor<?x4x2xbf16>'}}
  %r:2 = qt.linear_cross_entropy %x, %weight, %labels : (tensor<?x4x2xbf16>, tensor<8x4xbf16>, tensor<?xi32>) -> tensor<f32> row_loss tensor<?xf32>
  return
}

// -----

func.func @linear_cross_entropy_weight_rank(%x: tensor<?x4xbf16>, %weight: tensor<8x2x2xbf16>, %labels: tensor<?xi32>) {
  // expected-error @below {{'qt.linear_cross_entropy' op expected weight of 2 dimensions, got 'tensor<8x2x2xbf16>'}}
  %r:2 = qt.linear_cross_entropy %x, %weight, %labels : (tensor<?x4xbf16>, tensor<8x2x2xbf16>, tensor<?xi32>) -> tensor<f32> row_loss tensor<?xf32>
  return
}

// -----

func.func @linear_cross_entropy_loss(%x: tensor<?x4xbf16>, %weight: tensor<8x4xbf16>, %labels: tensor<?xi32>) {
  // expected-error @below {{'qt.linear_cross_entropy' op expected loss of type 'tensor<f32>', got 'tensor<f64>'}}
  %r:2 = qt.linear_cross_entropy %x, %weight, %labels : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<?xi32>) -> tensor<f64> row_loss tensor<?xf32>
  return
}
