// What the verifiers of the head's ops, gather_rows and linear_cross_entropy refuse.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics

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
