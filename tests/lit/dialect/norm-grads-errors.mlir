// What the verifiers of the adjoints of the norms refuse.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics

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
