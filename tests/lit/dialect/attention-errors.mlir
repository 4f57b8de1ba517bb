// What the verifiers of qk_norm_rope and attention refuse.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics

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
