// What the verifier of clusters refuses.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @no_result(%x: tensor<?x4xf32>) {
  // expected-error @below {{'qt.pointwise' op expected at least one result}}
  "qt.pointwise"(%x) ({
  ^bb0(%a: tensor<f32>):
    "qt.yield"() : () -> ()
  }) : (tensor<?x4xf32>) -> ()
  return
}

// -----

func.func @results(%x: tensor<?x4xf32>) {
  // expected-error @below {{'qt.pointwise' op expected results of one shape, got 'tensor<?x4xf32>' and 'tensor<?xf32>'}}
  %r:2 = qt.pointwise %x : tensor<?x4xf32> -> tensor<?x4xf32>, tensor<?xf32> {
  ^bb0(%a: tensor<f32>):
    qt.yield %a, %a : tensor<f32>, tensor<f32>
  }
  return
}

// -----

func.func @operand_longer(%x: tensor<?x4xf32>, %y: tensor<2x?x4xf32>) {
  // expected-error @below {{'qt.pointwise' op expected operands of the last dimensions of 'tensor<?x4xf32>', or 1 in their place, got 'tensor<2x?x4xf32>'}}
  %r = qt.pointwise %x, %y : tensor<?x4xf32>, tensor<2x?x4xf32> -> tensor<?x4xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    qt.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @operand_other(%x: tensor<?x4xf32>, %y: tensor<2xf32>) {
  // expected-error @below {{'qt.pointwise' op expected operands of the last dimensions of 'tensor<?x4xf32>', or 1 in their place, got 'tensor<2xf32>'}}
  %r = qt.pointwise %x, %y : tensor<?x4xf32>, tensor<2xf32> -> tensor<?x4xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    qt.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @body_arguments(%x: tensor<?x4xf32>) {
  // expected-error @below {{'qt.pointwise' op expected a body of ('tensor<f32>'), got ('tensor<bf16>')}}
  %r = qt.pointwise %x : tensor<?x4xf32> -> tensor<?x4xbf16> {
  ^bb0(%a: tensor<bf16>):
    qt.yield %a : tensor<bf16>
  }
  return
}

// -----

func.func @body_yields(%x: tensor<?x4xf32>) {
  // expected-error @below {{'qt.pointwise' op expected the body to yield ('tensor<bf16>'), got ('tensor<f32>')}}
  %r = qt.pointwise %x : tensor<?x4xf32> -> tensor<?x4xbf16> {
  ^bb0(%a: tensor<f32>):
    qt.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @body_end(%x: tensor<?x4xf32>) {
  // expected-error @below {{'qt.pointwise' op expected the body to end in qt.yield, got other.end}}
  %r = "qt.pointwise"(%x) ({
  ^bb0(%a: tensor<f32>):
    "other.end"(%a) : (tensor<f32>) -> ()
  }) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @body_op(%x: tensor<?x4xf32>) {
  %r = qt.pointwise %x : tensor<?x4xf32> -> tensor<?x4xf32> {
  ^bb0(%a: tensor<f32>):
    // expected-error @below {{'qt.reshape' op expected an op that an expression has in the body of qt.pointwise}}
    %b = qt.reshape %a : tensor<f32> -> tensor<1xf32>
    qt.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @used_before_computed(%x: tensor<?x4xf32>) {
  %r = qt.pointwise %x : tensor<?x4xf32> -> tensor<?x4xf32> {
  ^bb0(%a: tensor<f32>):
    // expected-error @below {{operand #0 does not dominate this use}}
    %b = qt.neg %c : tensor<f32>
    // expected-note @below {{operand defined here}}
    %c = qt.exp %a : tensor<f32>
    qt.yield %b : tensor<f32>
  }
  return
}

// -----

func.func @too_many_results(%x: tensor<?x4xf32>) {
  // expected-error @below {{'qt.pointwise' op expression: expected 1 to 4 results, got 5}}
  %r:5 = qt.pointwise %x : tensor<?x4xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> {
  ^bb0(%a: tensor<f32>):
    qt.yield %a, %a, %a, %a, %a : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
  return
}

// -----

func.func @yield_elsewhere(%x: tensor<?x4xf32>) {
  // expected-error @below {{'qt.yield' op expects parent op to be one of 'qt.scan, qt.pointwise'}}
  qt.yield %x : tensor<?x4xf32>
}
