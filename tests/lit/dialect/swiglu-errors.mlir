// What the verifiers of swiglu and its adjoint refuse.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics

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
