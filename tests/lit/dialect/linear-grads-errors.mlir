// What the verifiers of the adjoints of linear and linear_cross_entropy refuse.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics

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
