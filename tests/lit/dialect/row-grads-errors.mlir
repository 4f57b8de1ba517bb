// What the verifiers of the adjoints of embedding and gather_rows refuse.
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
