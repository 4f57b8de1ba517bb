// What the verifiers of the norms that are compounds refuse.
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
