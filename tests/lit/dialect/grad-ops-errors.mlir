// What the verifiers of the gradient ops refuse.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics

func.func @embedding_grad_order(%docs: !qt.segments, %ids: tensor<?xi32>, %order: tensor<9xi32>, %dout: tensor<?x4xbf16>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.embedding_grad' op expected order of type 'tensor<?xi32>', got 'tensor<9xi32>'}}
  %r = qt.embedding_grad %docs, %ids, %order, %dout into %into : (!qt.segments, tensor<?xi32>, tensor<9xi32>, tensor<?x4xbf16>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @embedding_grad_into(%docs: !qt.segments, %ids: tensor<?xi32>, %order: tensor<?xi32>, %dout: tensor<?x4xbf16>, %into: tensor<8x9xf32>) {
  // expected-error @below {{'qt.embedding_grad' op expected a value to add to of the gradient's type 'tensor<8x4xf32>', got 'tensor<8x9xf32>'}}
  %r = qt.embedding_grad %docs, %ids, %order, %dout into %into : (!qt.segments, tensor<?xi32>, tensor<?xi32>, tensor<?x4xbf16>, tensor<8x9xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @embedding_grad_dweight(%docs: !qt.segments, %ids: tensor<?xi32>, %order: tensor<?xi32>, %dout: tensor<?x4xbf16>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.embedding_grad' op expected dweight of type 'tensor<8x4xbf16>' or 'tensor<8x4xf32>', got 'tensor<8x9xf32>'}}
  %r = qt.embedding_grad %docs, %ids, %order, %dout into %into : (!qt.segments, tensor<?xi32>, tensor<?xi32>, tensor<?x4xbf16>, tensor<8x4xf32>) -> tensor<8x9xf32>
  return
}

// -----

func.func @embedding_grad_dout_rank(%docs: !qt.segments, %ids: tensor<?xi32>, %order: tensor<?xi32>, %dout: tensor<?xbf16>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.embedding_grad' op expected dout of 2 dimensions, got 'tensor<?xbf16>'}}
  %r = qt.embedding_grad %docs, %ids, %order, %dout into %into : (!qt.segments, tensor<?xi32>, tensor<?xi32>, tensor<?xbf16>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @embedding_grad_dweight_rank(%docs: !qt.segments, %ids: tensor<?xi32>, %order: tensor<?xi32>, %dout: tensor<?x4xbf16>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.embedding_grad' op expected dweight of 2 dimensions, got 'tensor<8xf32>'}}
  %r = qt.embedding_grad %docs, %ids, %order, %dout into %into : (!qt.segments, tensor<?xi32>, tensor<?xi32>, tensor<?x4xbf16>, tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @embedding_grad_dout_rows(%docs: !qt.segments, %ids: tensor<?xi32>, %order: tensor<?xi32>, %dout: tensor<5x4xbf16>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.embedding_grad' op expected dout of type 'tensor<?x4xbf16>', got 'tensor<5x4xbf16>'}}
  %r = qt.embedding_grad %docs, %ids, %order, %dout into %into : (!qt.segments, tensor<?xi32>, tensor<?xi32>, tensor<5x4xbf16>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @embedding_grad_tokens(%docs: !qt.segments<128, 4, 64, 96>, %ids: tensor<?xi32>, %order: tensor<?xi32>, %dout: tensor<?x4xbf16>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.embedding_grad' op expected ids to have a row for each of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<?xi32>'}}
  %r = qt.embedding_grad %docs, %ids, %order, %dout into %into : (!qt.segments<128, 4, 64, 96>, tensor<?xi32>, tensor<?xi32>, tensor<?x4xbf16>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @embedding_grad_two_into(%docs: !qt.segments, %ids: tensor<?xi32>, %order: tensor<?xi32>, %dout: tensor<?x4xbf16>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.embedding_grad' op expected a value to add to for each of the 1 weight gradients, or none, got 2}}
  %r = qt.embedding_grad %docs, %ids, %order, %dout into %into, %into : (!qt.segments, tensor<?xi32>, tensor<?xi32>, tensor<?x4xbf16>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @linear_input_grad_dy(%dy: tensor<?x9xbf16>, %weight: tensor<8x4xbf16>) {
  // expected-error @below {{'qt.linear_input_grad' op expected weight of type 'tensor<9x4xbf16>', got 'tensor<8x4xbf16>'}}
  %r = qt.linear_input_grad %dy, %weight : tensor<?x9xbf16>, tensor<8x4xbf16> -> tensor<?x4xbf16>
  return
}

// -----

func.func @linear_input_grad_dx(%dy: tensor<?x8xbf16>, %weight: tensor<8x4xbf16>) {
  // expected-error @below {{'qt.linear_input_grad' op expected dx of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r = qt.linear_input_grad %dy, %weight : tensor<?x8xbf16>, tensor<8x4xbf16> -> tensor<?x9xbf16>
  return
}

// -----

func.func @linear_input_grad_dy_rank(%dy: tensor<?x4x2xbf16>, %weight: tensor<8x4xbf16>) {
  // expected-error @below {{'qt.linear_input_grad' op expected dy of 2 dimensions, got 'tensor<?x4x2xbf16>'}}
  %r = qt.linear_input_grad %dy, %weight : tensor<?x4x2xbf16>, tensor<8x4xbf16> -> tensor<?x4xbf16>
  return
}

// -----

func.func @linear_input_grad_weight_rank(%dy: tensor<?x8xbf16>, %weight: tensor<8xbf16>) {
  // expected-error @below {{'qt.linear_input_grad' op expected weight of 2 dimensions, got 'tensor<8xbf16>'}}
  %r = qt.linear_input_grad %dy, %weight : tensor<?x8xbf16>, tensor<8xbf16> -> tensor<?x4xbf16>
  return
}

// -----

func.func @linear_input_grad_weight_type(%dy: tensor<?x8xbf16>, %weight: tensor<8x4xf32>) {
  // expected-error @below {{'qt.linear_input_grad' op expected weight of type 'tensor<8x4xbf16>', got 'tensor<8x4xf32>'}}
  %r = qt.linear_input_grad %dy, %weight : tensor<?x8xbf16>, tensor<8x4xf32> -> tensor<?x4xbf16>
  return
}

// -----

func.func @linear_weight_grad_into(%dy: tensor<?x8xbf16>, %x: tensor<?x4xbf16>, %into: tensor<8x9xf32>) {
  // expected-error @below {{'qt.linear_weight_grad' op expected into of type 'tensor<8x4xf32>', got 'tensor<8x9xf32>'}}
  %r = qt.linear_weight_grad %dy, %x into %into : (tensor<?x8xbf16>, tensor<?x4xbf16>, tensor<8x9xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @linear_weight_grad_dweight(%dy: tensor<?x8xbf16>, %x: tensor<?x4xbf16>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.linear_weight_grad' op expected dweight of type 'tensor<8x4xbf16>' or 'tensor<8x4xf32>', got 'tensor<8x9xf32>'}}
  %r = qt.linear_weight_grad %dy, %x into %into : (tensor<?x8xbf16>, tensor<?x4xbf16>, tensor<8x4xf32>) -> tensor<8x9xf32>
  return
}

// -----

func.func @linear_weight_grad_dy_rank(%dy: tensor<?x4x2xbf16>, %x: tensor<?x4xbf16>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.linear_weight_grad' op expected dy of 2 dimensions, got 'tensor<?x4x2xbf16>'}}
  %r = qt.linear_weight_grad %dy, %x into %into : (tensor<?x4x2xbf16>, tensor<?x4xbf16>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @linear_weight_grad_x_rank(%dy: tensor<?x8xbf16>, %x: tensor<?x4x2xbf16>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.linear_weight_grad' op expected x of 2 dimensions, got 'tensor<?x4x2xbf16>'}}
  %r = qt.linear_weight_grad %dy, %x into %into : (tensor<?x8xbf16>, tensor<?x4x2xbf16>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @linear_weight_grad_x_rows(%dy: tensor<?x8xbf16>, %x: tensor<5x4xbf16>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.linear_weight_grad' op expected x of type 'tensor<?x4xbf16>', got 'tensor<5x4xbf16>'}}
  %r = qt.linear_weight_grad %dy, %x into %into : (tensor<?x8xbf16>, tensor<5x4xbf16>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @rms_norm_grad_weight(%x: tensor<?x4xbf16>, %weight: tensor<9xbf16>, %rstd: tensor<?xf32>, %dy: tensor<?x4xbf16>, %into: tensor<4xf32>) {
  // expected-error @below {{'qt.rms_norm_grad' op expected weight of type 'tensor<4xbf16>' or 'tensor<4xf32>', got 'tensor<9xbf16>'}}
  %r:2 = qt.rms_norm_grad %x, %weight rstd %rstd dy %dy into %into eps 1.0e-6 : (tensor<?x4xbf16>, tensor<9xbf16>, tensor<?xf32>, tensor<?x4xbf16>, tensor<4xf32>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @rms_norm_grad_rstd(%x: tensor<?x4xbf16>, %weight: tensor<4xbf16>, %rstd: tensor<9xf32>, %dy: tensor<?x4xbf16>, %into: tensor<4xf32>) {
  // expected-error @below {{'qt.rms_norm_grad' op expected rstd of type 'tensor<?xf32>', got 'tensor<9xf32>'}}
  %r:2 = qt.rms_norm_grad %x, %weight rstd %rstd dy %dy into %into eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xbf16>, tensor<9xf32>, tensor<?x4xbf16>, tensor<4xf32>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @rms_norm_grad_dy(%x: tensor<?x4xbf16>, %weight: tensor<4xbf16>, %rstd: tensor<?xf32>, %dy: tensor<?x9xbf16>, %into: tensor<4xf32>) {
  // expected-error @below {{'qt.rms_norm_grad' op expected dy of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:2 = qt.rms_norm_grad %x, %weight rstd %rstd dy %dy into %into eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xbf16>, tensor<?xf32>, tensor<?x9xbf16>, tensor<4xf32>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @rms_norm_grad_into(%x: tensor<?x4xbf16>, %weight: tensor<4xbf16>, %rstd: tensor<?xf32>, %dy: tensor<?x4xbf16>, %into: tensor<9xf32>) {
  // expected-error @below {{'qt.rms_norm_grad' op expected a value to add to of the gradient's type 'tensor<4xf32>', got 'tensor<9xf32>'}}
  %r:2 = qt.rms_norm_grad %x, %weight rstd %rstd dy %dy into %into eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xbf16>, tensor<?xf32>, tensor<?x4xbf16>, tensor<9xf32>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @rms_norm_grad_dx(%x: tensor<?x4xbf16>, %weight: tensor<4xbf16>, %rstd: tensor<?xf32>, %dy: tensor<?x4xbf16>, %into: tensor<4xf32>) {
  // expected-error @below {{'qt.rms_norm_grad' op expected dx of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:2 = qt.rms_norm_grad %x, %weight rstd %rstd dy %dy into %into eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xbf16>, tensor<?xf32>, tensor<?x4xbf16>, tensor<4xf32>) -> (tensor<?x9xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @rms_norm_grad_dweight(%x: tensor<?x4xbf16>, %weight: tensor<4xbf16>, %rstd: tensor<?xf32>, %dy: tensor<?x4xbf16>, %into: tensor<4xf32>) {
  // expected-error @below {{'qt.rms_norm_grad' op expected dweight of type 'tensor<4xbf16>' or 'tensor<4xf32>', got 'tensor<9xf32>'}}
  %r:2 = qt.rms_norm_grad %x, %weight rstd %rstd dy %dy into %into eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xbf16>, tensor<?xf32>, tensor<?x4xbf16>, tensor<4xf32>) -> (tensor<?x4xbf16>, tensor<9xf32>)
  return
}

// -----

func.func @rms_norm_grad_eps(%x: tensor<?x4xbf16>, %weight: tensor<4xbf16>, %rstd: tensor<?xf32>, %dy: tensor<?x4xbf16>, %into: tensor<4xf32>) {
  // expected-error @below {{'qt.rms_norm_grad' op expected eps to be finite and not negative, got -1}}
  %r:2 = qt.rms_norm_grad %x, %weight rstd %rstd dy %dy into %into eps -1.0 : (tensor<?x4xbf16>, tensor<4xbf16>, tensor<?xf32>, tensor<?x4xbf16>, tensor<4xf32>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @add_rms_norm_grad_weight(%sum: tensor<?x4xbf16>, %weight: tensor<9xbf16>, %rstd: tensor<?xf32>, %dsum: tensor<?x4xbf16>, %dy: tensor<?x4xbf16>, %into: tensor<4xf32>) {
  // expected-error @below {{'qt.add_rms_norm_grad' op expected weight of type 'tensor<4xbf16>' or 'tensor<4xf32>', got 'tensor<9xbf16>'}}
  %r:2 = qt.add_rms_norm_grad %sum, %weight rstd %rstd dsum %dsum dy %dy into %into eps 1.0e-6 : (tensor<?x4xbf16>, tensor<9xbf16>, tensor<?xf32>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xf32>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @add_rms_norm_grad_rstd(%sum: tensor<?x4xbf16>, %weight: tensor<4xbf16>, %rstd: tensor<9xf32>, %dsum: tensor<?x4xbf16>, %dy: tensor<?x4xbf16>, %into: tensor<4xf32>) {
  // expected-error @below {{'qt.add_rms_norm_grad' op expected rstd of type 'tensor<?xf32>', got 'tensor<9xf32>'}}
  %r:2 = qt.add_rms_norm_grad %sum, %weight rstd %rstd dsum %dsum dy %dy into %into eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xbf16>, tensor<9xf32>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xf32>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @add_rms_norm_grad_dsum(%sum: tensor<?x4xbf16>, %weight: tensor<4xbf16>, %rstd: tensor<?xf32>, %dsum: tensor<?x9xbf16>, %dy: tensor<?x4xbf16>, %into: tensor<4xf32>) {
  // expected-error @below {{'qt.add_rms_norm_grad' op expected dsum of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:2 = qt.add_rms_norm_grad %sum, %weight rstd %rstd dsum %dsum dy %dy into %into eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xbf16>, tensor<?xf32>, tensor<?x9xbf16>, tensor<?x4xbf16>, tensor<4xf32>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @add_rms_norm_grad_dy(%sum: tensor<?x4xbf16>, %weight: tensor<4xbf16>, %rstd: tensor<?xf32>, %dsum: tensor<?x4xbf16>, %dy: tensor<?x9xbf16>, %into: tensor<4xf32>) {
  // expected-error @below {{'qt.add_rms_norm_grad' op expected dy of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:2 = qt.add_rms_norm_grad %sum, %weight rstd %rstd dsum %dsum dy %dy into %into eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xbf16>, tensor<?xf32>, tensor<?x4xbf16>, tensor<?x9xbf16>, tensor<4xf32>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @add_rms_norm_grad_into(%sum: tensor<?x4xbf16>, %weight: tensor<4xbf16>, %rstd: tensor<?xf32>, %dsum: tensor<?x4xbf16>, %dy: tensor<?x4xbf16>, %into: tensor<9xf32>) {
  // expected-error @below {{'qt.add_rms_norm_grad' op expected a value to add to of the gradient's type 'tensor<4xf32>', got 'tensor<9xf32>'}}
  %r:2 = qt.add_rms_norm_grad %sum, %weight rstd %rstd dsum %dsum dy %dy into %into eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xbf16>, tensor<?xf32>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<9xf32>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @add_rms_norm_grad_dx(%sum: tensor<?x4xbf16>, %weight: tensor<4xbf16>, %rstd: tensor<?xf32>, %dsum: tensor<?x4xbf16>, %dy: tensor<?x4xbf16>, %into: tensor<4xf32>) {
  // expected-error @below {{'qt.add_rms_norm_grad' op expected dx of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:2 = qt.add_rms_norm_grad %sum, %weight rstd %rstd dsum %dsum dy %dy into %into eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xbf16>, tensor<?xf32>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xf32>) -> (tensor<?x9xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @add_rms_norm_grad_dweight(%sum: tensor<?x4xbf16>, %weight: tensor<4xbf16>, %rstd: tensor<?xf32>, %dsum: tensor<?x4xbf16>, %dy: tensor<?x4xbf16>, %into: tensor<4xf32>) {
  // expected-error @below {{'qt.add_rms_norm_grad' op expected dweight of type 'tensor<4xbf16>' or 'tensor<4xf32>', got 'tensor<9xf32>'}}
  %r:2 = qt.add_rms_norm_grad %sum, %weight rstd %rstd dsum %dsum dy %dy into %into eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xbf16>, tensor<?xf32>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xf32>) -> (tensor<?x4xbf16>, tensor<9xf32>)
  return
}

// -----

func.func @add_rms_norm_grad_eps(%sum: tensor<?x4xbf16>, %weight: tensor<4xbf16>, %rstd: tensor<?xf32>, %dsum: tensor<?x4xbf16>, %dy: tensor<?x4xbf16>, %into: tensor<4xf32>) {
  // expected-error @below {{'qt.add_rms_norm_grad' op expected eps to be finite and not negative, got -1}}
  %r:2 = qt.add_rms_norm_grad %sum, %weight rstd %rstd dsum %dsum dy %dy into %into eps -1.0 : (tensor<?x4xbf16>, tensor<4xbf16>, tensor<?xf32>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xf32>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @gated_rms_norm_grad_z(%x: tensor<?x4x2xbf16>, %z: tensor<?x4x9xbf16>, %weight: tensor<2xf32>, %rstd: tensor<?x4xf32>, %dy: tensor<?x4x2xbf16>, %into: tensor<2xf32>) {
  // expected-error @below {{'qt.gated_rms_norm_grad' op expected z of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:3 = qt.gated_rms_norm_grad %x, %z, %weight rstd %rstd dy %dy into %into eps 1.0e-6 : (tensor<?x4x2xbf16>, tensor<?x4x9xbf16>, tensor<2xf32>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>)
  return
}

// -----

func.func @gated_rms_norm_grad_weight(%x: tensor<?x4x2xbf16>, %z: tensor<?x4x2xbf16>, %weight: tensor<9xf32>, %rstd: tensor<?x4xf32>, %dy: tensor<?x4x2xbf16>, %into: tensor<2xf32>) {
  // expected-error @below {{'qt.gated_rms_norm_grad' op expected weight of type 'tensor<2xbf16>' or 'tensor<2xf32>', got 'tensor<9xf32>'}}
  %r:3 = qt.gated_rms_norm_grad %x, %z, %weight rstd %rstd dy %dy into %into eps 1.0e-6 : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<9xf32>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>)
  return
}

// -----

func.func @gated_rms_norm_grad_rstd(%x: tensor<?x4x2xbf16>, %z: tensor<?x4x2xbf16>, %weight: tensor<2xf32>, %rstd: tensor<?x9xf32>, %dy: tensor<?x4x2xbf16>, %into: tensor<2xf32>) {
  // expected-error @below {{'qt.gated_rms_norm_grad' op expected rstd of type 'tensor<?x4xf32>', got 'tensor<?x9xf32>'}}
  %r:3 = qt.gated_rms_norm_grad %x, %z, %weight rstd %rstd dy %dy into %into eps 1.0e-6 : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>, tensor<?x9xf32>, tensor<?x4x2xbf16>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>)
  return
}

// -----

func.func @gated_rms_norm_grad_dy(%x: tensor<?x4x2xbf16>, %z: tensor<?x4x2xbf16>, %weight: tensor<2xf32>, %rstd: tensor<?x4xf32>, %dy: tensor<?x4x9xbf16>, %into: tensor<2xf32>) {
  // expected-error @below {{'qt.gated_rms_norm_grad' op expected dy of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:3 = qt.gated_rms_norm_grad %x, %z, %weight rstd %rstd dy %dy into %into eps 1.0e-6 : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>, tensor<?x4xf32>, tensor<?x4x9xbf16>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>)
  return
}

// -----

func.func @gated_rms_norm_grad_into(%x: tensor<?x4x2xbf16>, %z: tensor<?x4x2xbf16>, %weight: tensor<2xf32>, %rstd: tensor<?x4xf32>, %dy: tensor<?x4x2xbf16>, %into: tensor<9xf32>) {
  // expected-error @below {{'qt.gated_rms_norm_grad' op expected a value to add to of the gradient's type 'tensor<2xf32>', got 'tensor<9xf32>'}}
  %r:3 = qt.gated_rms_norm_grad %x, %z, %weight rstd %rstd dy %dy into %into eps 1.0e-6 : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<9xf32>) -> (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>)
  return
}

// -----

func.func @gated_rms_norm_grad_dx(%x: tensor<?x4x2xbf16>, %z: tensor<?x4x2xbf16>, %weight: tensor<2xf32>, %rstd: tensor<?x4xf32>, %dy: tensor<?x4x2xbf16>, %into: tensor<2xf32>) {
  // expected-error @below {{'qt.gated_rms_norm_grad' op expected dx of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:3 = qt.gated_rms_norm_grad %x, %z, %weight rstd %rstd dy %dy into %into eps 1.0e-6 : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<2xf32>) -> (tensor<?x4x9xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>)
  return
}

// -----

func.func @gated_rms_norm_grad_dz(%x: tensor<?x4x2xbf16>, %z: tensor<?x4x2xbf16>, %weight: tensor<2xf32>, %rstd: tensor<?x4xf32>, %dy: tensor<?x4x2xbf16>, %into: tensor<2xf32>) {
  // expected-error @below {{'qt.gated_rms_norm_grad' op expected dz of type 'tensor<?x4x2xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r:3 = qt.gated_rms_norm_grad %x, %z, %weight rstd %rstd dy %dy into %into eps 1.0e-6 : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x4x9xbf16>, tensor<2xf32>)
  return
}

// -----

func.func @gated_rms_norm_grad_dweight(%x: tensor<?x4x2xbf16>, %z: tensor<?x4x2xbf16>, %weight: tensor<2xf32>, %rstd: tensor<?x4xf32>, %dy: tensor<?x4x2xbf16>, %into: tensor<2xf32>) {
  // expected-error @below {{'qt.gated_rms_norm_grad' op expected dweight of type 'tensor<2xf32>', got 'tensor<9xf32>'}}
  %r:3 = qt.gated_rms_norm_grad %x, %z, %weight rstd %rstd dy %dy into %into eps 1.0e-6 : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<9xf32>)
  return
}

// -----

func.func @gated_rms_norm_grad_eps(%x: tensor<?x4x2xbf16>, %z: tensor<?x4x2xbf16>, %weight: tensor<2xf32>, %rstd: tensor<?x4xf32>, %dy: tensor<?x4x2xbf16>, %into: tensor<2xf32>) {
  // expected-error @below {{'qt.gated_rms_norm_grad' op expected eps to be finite and not negative, got -1}}
  %r:3 = qt.gated_rms_norm_grad %x, %z, %weight rstd %rstd dy %dy into %into eps -1.0 : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>)
  return
}

// -----

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

// -----

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

// -----

func.func @swiglu_grad_up(%gate: tensor<?x4xbf16>, %up: tensor<?x9xbf16>, %dy: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.swiglu_grad' op expected up of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:2 = qt.swiglu_grad %gate, %up dy %dy : (tensor<?x4xbf16>, tensor<?x9xbf16>, tensor<?x4xbf16>) -> (tensor<?x4xbf16>, tensor<?x4xbf16>)
  return
}

// -----

func.func @swiglu_grad_dy(%gate: tensor<?x4xbf16>, %up: tensor<?x4xbf16>, %dy: tensor<?x9xbf16>) {
  // expected-error @below {{'qt.swiglu_grad' op expected dy of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:2 = qt.swiglu_grad %gate, %up dy %dy : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x9xbf16>) -> (tensor<?x4xbf16>, tensor<?x4xbf16>)
  return
}

// -----

func.func @swiglu_grad_dgate(%gate: tensor<?x4xbf16>, %up: tensor<?x4xbf16>, %dy: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.swiglu_grad' op expected dgate of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:2 = qt.swiglu_grad %gate, %up dy %dy : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>) -> (tensor<?x9xbf16>, tensor<?x4xbf16>)
  return
}

// -----

func.func @swiglu_grad_dup(%gate: tensor<?x4xbf16>, %up: tensor<?x4xbf16>, %dy: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.swiglu_grad' op expected dup of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:2 = qt.swiglu_grad %gate, %up dy %dy : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>) -> (tensor<?x4xbf16>, tensor<?x9xbf16>)
  return
}

// -----

func.func @scatter_rows_dx(%docs: !qt.segments, %dout: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.scatter_rows' op expected dx of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r = qt.scatter_rows %docs, %dout : (!qt.segments, tensor<?x4xbf16>) -> (tensor<?x9xbf16>)
  return
}

// -----

func.func @scatter_rows_rank(%docs: !qt.segments, %dout: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.scatter_rows' op expected dx of 2 dimensions, got 'tensor<?xbf16>'}}
  %r = qt.scatter_rows %docs, %dout : (!qt.segments, tensor<?x4xbf16>) -> (tensor<?xbf16>)
  return
}

// -----

func.func @scatter_rows_trained(%docs: !qt.segments<128, 4, 64, 96>, %dout: tensor<?x4xbf16>) {
  // expected-error @below {{'qt.scatter_rows' op expected dout to have the 96 trained rows of '!qt.segments<128, 4, 64, 96>', got 'tensor<?x4xbf16>'}}
  %r = qt.scatter_rows %docs, %dout : (!qt.segments<128, 4, 64, 96>, tensor<?x4xbf16>) -> (tensor<?x4xbf16>)
  return
}

// -----

func.func @scatter_rows_tokens(%docs: !qt.segments<128, 4, 64, 96>, %dout: tensor<96x4xbf16>) {
  // expected-error @below {{'qt.scatter_rows' op expected dx to have a row for each of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<?x4xbf16>'}}
  %r = qt.scatter_rows %docs, %dout : (!qt.segments<128, 4, 64, 96>, tensor<96x4xbf16>) -> (tensor<?x4xbf16>)
  return
}

// -----

func.func @linear_cross_entropy_grad_weight(%x: tensor<?x4xbf16>, %weight: tensor<8x9xbf16>, %labels: tensor<?xi32>, %dloss: tensor<f32>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.linear_cross_entropy_grad' op expected weight of type 'tensor<8x4xbf16>', got 'tensor<8x9xbf16>'}}
  %r:3 = qt.linear_cross_entropy_grad %x, %weight, %labels dloss %dloss into %into : (tensor<?x4xbf16>, tensor<8x9xbf16>, tensor<?xi32>, tensor<f32>, tensor<8x4xf32>) -> (tensor<f32>, tensor<?x4xbf16>, tensor<8x4xf32>)
  return
}

// -----

func.func @linear_cross_entropy_grad_labels(%x: tensor<?x4xbf16>, %weight: tensor<8x4xbf16>, %labels: tensor<9xi32>, %dloss: tensor<f32>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.linear_cross_entropy_grad' op expected labels of type 'tensor<?xi32>', got 'tensor<9xi32>'}}
  %r:3 = qt.linear_cross_entropy_grad %x, %weight, %labels dloss %dloss into %into : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<9xi32>, tensor<f32>, tensor<8x4xf32>) -> (tensor<f32>, tensor<?x4xbf16>, tensor<8x4xf32>)
  return
}

// -----

func.func @linear_cross_entropy_grad_dloss(%x: tensor<?x4xbf16>, %weight: tensor<8x4xbf16>, %labels: tensor<?xi32>, %dloss: tensor<f64>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.linear_cross_entropy_grad' op expected dloss of type 'tensor<f32>', got 'tensor<f64>'}}
  %r:3 = qt.linear_cross_entropy_grad %x, %weight, %labels dloss %dloss into %into : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<?xi32>, tensor<f64>, tensor<8x4xf32>) -> (tensor<f32>, tensor<?x4xbf16>, tensor<8x4xf32>)
  return
}

// -----

func.func @linear_cross_entropy_grad_into(%x: tensor<?x4xbf16>, %weight: tensor<8x4xbf16>, %labels: tensor<?xi32>, %dloss: tensor<f32>, %into: tensor<8x9xf32>) {
  // expected-error @below {{'qt.linear_cross_entropy_grad' op expected a value to add to of the gradient's type 'tensor<8x4xf32>', got 'tensor<8x9xf32>'}}
  %r:3 = qt.linear_cross_entropy_grad %x, %weight, %labels dloss %dloss into %into : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<?xi32>, tensor<f32>, tensor<8x9xf32>) -> (tensor<f32>, tensor<?x4xbf16>, tensor<8x4xf32>)
  return
}

// -----

func.func @linear_cross_entropy_grad_loss(%x: tensor<?x4xbf16>, %weight: tensor<8x4xbf16>, %labels: tensor<?xi32>, %dloss: tensor<f32>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.linear_cross_entropy_grad' op expected loss of type 'tensor<f32>', got 'tensor<f64>'}}
  %r:3 = qt.linear_cross_entropy_grad %x, %weight, %labels dloss %dloss into %into : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<?xi32>, tensor<f32>, tensor<8x4xf32>) -> (tensor<f64>, tensor<?x4xbf16>, tensor<8x4xf32>)
  return
}

// -----

func.func @linear_cross_entropy_grad_dx(%x: tensor<?x4xbf16>, %weight: tensor<8x4xbf16>, %labels: tensor<?xi32>, %dloss: tensor<f32>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.linear_cross_entropy_grad' op expected dx of type 'tensor<?x4xbf16>', got 'tensor<?x9xbf16>'}}
  %r:3 = qt.linear_cross_entropy_grad %x, %weight, %labels dloss %dloss into %into : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<?xi32>, tensor<f32>, tensor<8x4xf32>) -> (tensor<f32>, tensor<?x9xbf16>, tensor<8x4xf32>)
  return
}

// -----

func.func @linear_cross_entropy_grad_dweight(%x: tensor<?x4xbf16>, %weight: tensor<8x4xbf16>, %labels: tensor<?xi32>, %dloss: tensor<f32>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.linear_cross_entropy_grad' op expected dweight of type 'tensor<8x4xbf16>' or 'tensor<8x4xf32>', got 'tensor<8x9xf32>'}}
  %r:3 = qt.linear_cross_entropy_grad %x, %weight, %labels dloss %dloss into %into : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<?xi32>, tensor<f32>, tensor<8x4xf32>) -> (tensor<f32>, tensor<?x4xbf16>, tensor<8x9xf32>)
  return
}

// -----

func.func @linear_cross_entropy_grad_x_rank(%x: tensor<?x4x2xbf16>, %weight: tensor<8x4xbf16>, %labels: tensor<?xi32>, %dloss: tensor<f32>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.linear_cross_entropy_grad' op expected x of 2 dimensions, got 'tensor<?x4x2xbf16>'}}
  %r:3 = qt.linear_cross_entropy_grad %x, %weight, %labels dloss %dloss into %into : (tensor<?x4x2xbf16>, tensor<8x4xbf16>, tensor<?xi32>, tensor<f32>, tensor<8x4xf32>) -> (tensor<f32>, tensor<?x4xbf16>, tensor<8x4xf32>)
  return
}

// -----

func.func @linear_cross_entropy_grad_weight_rank(%x: tensor<?x4xbf16>, %weight: tensor<8xbf16>, %labels: tensor<?xi32>, %dloss: tensor<f32>, %into: tensor<8x4xf32>) {
  // expected-error @below {{'qt.linear_cross_entropy_grad' op expected weight of 2 dimensions, got 'tensor<8xbf16>'}}
  %r:3 = qt.linear_cross_entropy_grad %x, %weight, %labels dloss %dloss into %into : (tensor<?x4xbf16>, tensor<8xbf16>, tensor<?xi32>, tensor<f32>, tensor<8x4xf32>) -> (tensor<f32>, tensor<?x4xbf16>, tensor<8x4xf32>)
  return
}
