// What the verifiers of the model ops refuse.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics

func.func @embedding_out(%docs: !qt.segments, %ids: tensor<?xi32>, %weight: tensor<8x4xbf16>) {
  // expected-error @below {{'qt.embedding' op expected out of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r = qt.embedding %docs, %ids, %weight : (!qt.segments, tensor<?xi32>, tensor<8x4xbf16>) -> tensor<?x9xbf16>
  return
}

// -----

func.func @embedding_weight_rank(%docs: !qt.segments, %ids: tensor<?xi32>, %weight: tensor<8xbf16>) {
  // expected-error @below {{'qt.embedding' op expected weight of 2 dimensions, got 'tensor<8xbf16>'}}
  %r = qt.embedding %docs, %ids, %weight : (!qt.segments, tensor<?xi32>, tensor<8xbf16>) -> tensor<?x4xbf16>
  return
}

// -----

func.func @embedding_out_type(%docs: !qt.segments, %ids: tensor<?xi32>, %weight: tensor<8x4xbf16>) {
  // expected-error @below {{'qt.embedding' op expected out of type 'tensor<?x4xbf16>', got 'tensor<?x4xf32>'}}
  %r = qt.embedding %docs, %ids, %weight : (!qt.segments, tensor<?xi32>, tensor<8x4xbf16>) -> tensor<?x4xf32>
  return
}

// -----

func.func @embedding_tokens(%docs: !qt.segments<128, 4, 64, 96>, %ids: tensor<?xi32>, %weight: tensor<8x4xbf16>) {
  // expected-error @below {{'qt.embedding' op expected ids to have a row for each of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<?xi32>'}}
  %r = qt.embedding %docs, %ids, %weight : (!qt.segments<128, 4, 64, 96>, tensor<?xi32>, tensor<8x4xbf16>) -> tensor<?x4xbf16>
  return
}

// -----

func.func @linear_weight(%x: tensor<?x4xbf16>, %weight: tensor<8x9xbf16>) {
  // expected-error @below {{'qt.linear' op expected weight of type 'tensor<8x4xbf16>', got 'tensor<8x9xbf16>'}}
  %r = qt.linear %x, %weight : tensor<?x4xbf16>, tensor<8x9xbf16> -> tensor<?x8xbf16>
  return
}

// -----

func.func @linear_y(%x: tensor<?x4xbf16>, %weight: tensor<8x4xbf16>) {
  // expected-error @below {{'qt.linear' op expected y of type 'tensor<?x8xbf16>', got 'tensor<?x9xbf16>'}}
  %r = qt.linear %x, %weight : tensor<?x4xbf16>, tensor<8x4xbf16> -> tensor<?x9xbf16>
  return
}

// -----

func.func @linear_x_rank(%x: tensor<?x4x2xbf16>, %weight: tensor<8x4xbf16>) {
  // expected-error @below {{'qt.linear' op expected x of 2 dimensions, got 'tensor<?x4x2xbf16>'}}
  %r = qt.linear %x, %weight : tensor<?x4x2xbf16>, tensor<8x4xbf16> -> tensor<?x8xbf16>
  return
}

// -----

func.func @linear_weight_rank(%x: tensor<?x4xbf16>, %weight: tensor<8xbf16>) {
  // expected-error @below {{'qt.linear' op expected weight of 2 dimensions, got 'tensor<8xbf16>'}}
  %r = qt.linear %x, %weight : tensor<?x4xbf16>, tensor<8xbf16> -> tensor<?x8xbf16>
  return
}

// -----

func.func @linear_weight_type(%x: tensor<?x4xbf16>, %weight: tensor<8x4xf32>) {
  // expected-error @below {{'qt.linear' op expected weight of type 'tensor<8x4xbf16>', got 'tensor<8x4xf32>'}}
  %r = qt.linear %x, %weight : tensor<?x4xbf16>, tensor<8x4xf32> -> tensor<?x8xbf16>
  return
}

// -----

func.func @linear_y_type(%x: tensor<?x4xbf16>, %weight: tensor<8x4xbf16>) {
  // expected-error @below {{'qt.linear' op expected y of type 'tensor<?x8xbf16>', got 'tensor<?x8xf32>'}}
  %r = qt.linear %x, %weight : tensor<?x4xbf16>, tensor<8x4xbf16> -> tensor<?x8xf32>
  return
}

// -----

func.func @rms_norm_weight(%x: tensor<?x4xbf16>, %weight: tensor<9xbf16>) {
  // expected-error @below {{'qt.rms_norm' op expected weight of type 'tensor<4xbf16>' or 'tensor<4xf32>', got 'tensor<9xbf16>'}}
  %r:2 = qt.rms_norm %x, %weight eps 1.0e-6 : (tensor<?x4xbf16>, tensor<9xbf16>) -> tensor<?x4xbf16> rstd tensor<?xf32>
  return
}

// -----

func.func @rms_norm_y(%x: tensor<?x4xbf16>, %weight: tensor<4xbf16>) {
  // expected-error @below {{'qt.rms_norm' op expected y of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:2 = qt.rms_norm %x, %weight eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xbf16>) -> tensor<?x9xbf16> rstd tensor<?xf32>
  return
}

// -----

func.func @rms_norm_rstd(%x: tensor<?x4xbf16>, %weight: tensor<4xbf16>) {
  // expected-error @below {{'qt.rms_norm' op expected rstd of type 'tensor<?xf32>', got 'tensor<9xf32>'}}
  %r:2 = qt.rms_norm %x, %weight eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xbf16>) -> tensor<?x4xbf16> rstd tensor<9xf32>
  return
}

// -----

func.func @rms_norm_weight_type(%x: tensor<?x4xbf16>, %weight: tensor<4xf64>) {
  // expected-error @below {{'qt.rms_norm' op expected weight of type 'tensor<4xbf16>' or 'tensor<4xf32>', got 'tensor<4xf64>'}}
  %r:2 = qt.rms_norm %x, %weight eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xf64>) -> tensor<?x4xbf16> rstd tensor<?xf32>
  return
}

// -----

func.func @rms_norm_eps(%x: tensor<?x4xbf16>, %weight: tensor<4xbf16>) {
  // expected-error @below {{'qt.rms_norm' op expected eps to be finite and not negative, got -1}}
  %r:2 = qt.rms_norm %x, %weight eps -1.0 : (tensor<?x4xbf16>, tensor<4xbf16>) -> tensor<?x4xbf16> rstd tensor<?xf32>
  return
}

// -----

func.func @plain_rms_norm_weight(%x: tensor<?x4xbf16>, %weight: tensor<9xbf16>) {
  // expected-error @below {{'qt.plain_rms_norm' op expected weight of type 'tensor<4xbf16>' or 'tensor<4xf32>', got 'tensor<9xbf16>'}}
  %r = qt.plain_rms_norm %x, %weight eps 1.0e-6 : tensor<?x4xbf16>, tensor<9xbf16> -> tensor<?x4xbf16>
  return
}

// -----

func.func @plain_rms_norm_y(%x: tensor<?x4xbf16>, %weight: tensor<4xbf16>) {
  // expected-error @below {{'qt.plain_rms_norm' op expected y of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r = qt.plain_rms_norm %x, %weight eps 1.0e-6 : tensor<?x4xbf16>, tensor<4xbf16> -> tensor<?x9xbf16>
  return
}

// -----

func.func @plain_rms_norm_eps(%x: tensor<?x4xbf16>, %weight: tensor<4xbf16>) {
  // expected-error @below {{'qt.plain_rms_norm' op expected eps to be finite and not negative, got -1}}
  %r = qt.plain_rms_norm %x, %weight eps -1.0 : tensor<?x4xbf16>, tensor<4xbf16> -> tensor<?x4xbf16>
  return
}

// -----

func.func @l2_norm_y(%x: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.l2_norm' op expected y of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r = qt.l2_norm %x eps 1.0e-6 : tensor<?x4xbf16> -> tensor<?x9xbf16>
  return
}

// -----

func.func @l2_norm_eps(%x: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.l2_norm' op expected eps to be finite and not negative, got -1}}
  %r = qt.l2_norm %x eps -1.0 : tensor<?x4xbf16> -> tensor<?x4xbf16>
  return
}

// -----

func.func @rope_rank(%docs: !qt.segments, %x: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.rope' op expected x of 3 dimensions, got 'tensor<?x4xbf16>'}}
  %r = qt.rope %docs, %x theta 1.0e4 dims 2 : !qt.segments, tensor<?x4xbf16>
  return
}

// -----

func.func @rope_tokens(%docs: !qt.segments<128, 4, 64, 96>, %x: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.rope' op expected x to have a row for each of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<?x4x2xbf16>'}}
  %r = qt.rope %docs, %x theta 1.0e4 dims 2 : !qt.segments<128, 4, 64, 96>, tensor<?x4x2xbf16>
  return
}

// -----

func.func @rope_dims(%docs: !qt.segments, %x: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.rope' op expected an even number of rotary dimensions from 2 to the head's 2, got 3}}
  %r = qt.rope %docs, %x theta 1.0e4 dims 3 : !qt.segments, tensor<?x4x2xbf16>
  return
}

// -----

func.func @rope_theta(%docs: !qt.segments, %x: tensor<?x4x2xbf16>) {
  // expected-error @below {{'qt.rope' op expected theta to be finite and above 0, got 0}}
  %r = qt.rope %docs, %x theta 0.0 dims 2 : !qt.segments, tensor<?x4x2xbf16>
  return
}

// -----

func.func @causal_conv_x_rank(%docs: !qt.segments, %x: tensor<?x4x2xbf16>, %weight: tensor<4x1x4xbf16>) {
  // expected-error @below {{'qt.causal_conv' op expected x of 2 dimensions, got 'tensor<?x4x2xbf16>'}}
  %r = qt.causal_conv %docs, %x, %weight : !qt.segments, tensor<?x4x2xbf16>, tensor<4x1x4xbf16>
  return
}

// -----

func.func @causal_conv_weight_rank(%docs: !qt.segments, %x: tensor<?x4xbf16>, %weight: tensor<4x4xbf16>) {
  // expected-error @below {{'qt.causal_conv' op expected weight of 3 dimensions, got 'tensor<4x4xbf16>'}}
  %r = qt.causal_conv %docs, %x, %weight : !qt.segments, tensor<?x4xbf16>, tensor<4x4xbf16>
  return
}

// -----

func.func @causal_conv_weight(%docs: !qt.segments, %x: tensor<?x4xbf16>, %weight: tensor<5x1x4xbf16>) {
  // expected-error @below {{'qt.causal_conv' op expected weight of type 'tensor<4x1x4xbf16>' or 'tensor<4x1x4xf32>', got 'tensor<5x1x4xbf16>'}}
  %r = qt.causal_conv %docs, %x, %weight : !qt.segments, tensor<?x4xbf16>, tensor<5x1x4xbf16>
  return
}

// -----

func.func @causal_conv_weight_middle(%docs: !qt.segments, %x: tensor<?x4xbf16>, %weight: tensor<4x2x4xbf16>) {
  // expected-error @below {{'qt.causal_conv' op expected weight of type 'tensor<4x1x4xbf16>' or 'tensor<4x1x4xf32>', got 'tensor<4x2x4xbf16>'}}
  %r = qt.causal_conv %docs, %x, %weight : !qt.segments, tensor<?x4xbf16>, tensor<4x2x4xbf16>
  return
}

// -----

func.func @causal_conv_tokens(%docs: !qt.segments<128, 4, 64, 96>, %x: tensor<?x4xbf16>, %weight: tensor<4x1x4xbf16>) {
  // expected-error @below {{'qt.causal_conv' op expected x to have a row for each of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<?x4xbf16>'}}
  %r = qt.causal_conv %docs, %x, %weight : !qt.segments<128, 4, 64, 96>, tensor<?x4xbf16>, tensor<4x1x4xbf16>
  return
}

// -----

func.func @cross_entropy_labels(%logits: tensor<?x4xbf16>, %labels: tensor<9xi32>) {
  // expected-error @below {{'qt.cross_entropy' op expected labels of type 'tensor<?xi32>', got 'tensor<9xi32>'}}
  %r = qt.cross_entropy %logits, %labels : tensor<?x4xbf16>, tensor<9xi32> -> tensor<f32>
  return
}

// -----

func.func @cross_entropy_loss(%logits: tensor<?x4xbf16>, %labels: tensor<?xi32>) {
  // expected-error @below {{'qt.cross_entropy' op expected loss of type 'tensor<f32>', got 'tensor<f64>'}}
  %r = qt.cross_entropy %logits, %labels : tensor<?x4xbf16>, tensor<?xi32> -> tensor<f64>
  return
}

// -----

func.func @cross_entropy_rank(%logits: tensor<?x4x2xbf16>, %labels: tensor<?xi32>) {
  // expected-error @below {{'qt.cross_entropy' op expected logits of 2 dimensions, got 'tensor<?x4x2xbf16>'}}
  %r = qt.cross_entropy %logits, %labels : tensor<?x4x2xbf16>, tensor<?xi32> -> tensor<f32>
  return
}
