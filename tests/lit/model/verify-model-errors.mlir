// What is no model is refused before anything else happens.
// RUN: qcc-opt %s --verify-model --split-input-file --verify-diagnostics

// expected-error @below {{expected a function with the attribute #qt.entry<model>, got none}}
module {
}

// -----

module {
  // expected-error @below {{expected only the entry function <model> in the phase model, got one that is no entry function}}
  func.func @helper() {
    return
  }
}

// -----

module {
  // expected-error @below {{expected only the entry function <model> in the phase model, got one of kind eval}}
  func.func @eval() attributes {qt.entry = #qt.entry<eval>} {
    return
  }
}

// -----

module {
  func.func @model() attributes {qt.entry = #qt.entry<model>} {
    return
  }
  // expected-error @below {{expected one model, got a second beside @model}}
  func.func @again() attributes {qt.entry = #qt.entry<model>} {
    return
  }
}

// -----

module {
  // expected-error @below {{expected an argument of the role labels, got none}}
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %docs: !qt.segments {qt.argument = #qt.argument<segments>})
      attributes {qt.entry = #qt.entry<model>} {
    return
  }
}

// -----

module {
  // expected-error @below {{expected a !qt.segments without a bucket, got '!qt.segments<64, 2, 64, 64>'}}
  func.func @model(%ids: tensor<64xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<64xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments<64, 2, 64, 64> {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    return
  }
}

// -----

module {
  // expected-error @below {{expected one argument of type !qt.segments, got 2}}
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}, %more: !qt.segments) attributes {qt.entry = #qt.entry<model>} {
    return
  }
}

// -----

module {
  // expected-error @below {{expected to count tokens by the first dimension alone, got argument 3 of type 'tensor<4x?xf32>'}}
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}, %x: tensor<4x?xf32>) attributes {qt.entry = #qt.entry<model>} {
    return
  }
}

// -----

// What is no product of tokens has them in its rows.
module {
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    // expected-error @below {{'qt.zeros' op expected to count tokens by the first dimension alone, got 'tensor<4x?xf32>'}}
    %x = qt.zeros : tensor<4x?xf32>
    return
  }
}

// -----

module {
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    %x = qt.zeros : tensor<?x4xf32>
    // expected-error @below {{'qt.broadcast' op expected to count tokens by the first dimension alone, got 'tensor<?x4x?xf32>'}}
    %y = qt.broadcast %x dims [0, 1] : tensor<?x4xf32> -> tensor<?x4x?xf32>
    return
  }
}

// -----

module {
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    %x = qt.zeros : tensor<?x4xf32>
    %y = qt.zeros : tensor<?xf32>
    %scores = qt.contract %x, %x batch [] x [] over [1] x [1] : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x?xf32>
    // expected-error @below {{'qt.contract' op expected at most two extents that count tokens, got 'tensor<?x?x?xf32>'}}
    %cube = qt.contract %scores, %y batch [] x [] over [] x [] : tensor<?x?xf32>, tensor<?xf32> -> tensor<?x?x?xf32>
    return
  }
}

// -----

// Compounds are formed; gradients, state and instructions come later still.
module {
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    %x = qt.zeros : tensor<?x4xf32>
    // expected-error @below {{'qt.swiglu' op is not of the language of models: expected parameters, tensor ops and model ops in the phase model}}
    %y = qt.swiglu %x, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    return
  }
}

// -----

module {
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    %x = qt.zeros : tensor<?x4xf32>
    // expected-error @below {{'qt.linear_weight_grad' op is not of the language of models}}
    %y = qt.linear_weight_grad %x, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<4x4xf32>
    return
  }
}

// -----

module {
  qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    %w = qt.read @w : tensor<4xf32>
    // expected-error @below {{'qt.update' op is not of the language of models}}
    qt.update @w, %w : tensor<4xf32>
    return
  }
}

// -----

module {
  // expected-error @below {{'qt.state' op is not of the language of models}}
  qt.state @counters counters : tensor<2xi64>
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    return
  }
}

// -----

module {
  // expected-error @below {{'step.layout' op is not of the language of models}}
  step.layout state 0 gradients 0 {
  }
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    return
  }
}

// -----

// A model, scores of tokens against tokens in it.
module {
  qt.parameter @w : tensor<4x4xf32> init <zeros> names ["w"]
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    %w = qt.read @w : tensor<4x4xf32>
    %x = qt.embedding %docs, %ids, %w : (!qt.segments, tensor<?xi32>, tensor<4x4xf32>) -> tensor<?x4xf32>
    %heads = qt.reshape %x : tensor<?x4xf32> -> tensor<?x2x2xf32>
    %q = qt.transpose %heads [1, 0, 2] : tensor<?x2x2xf32> -> tensor<2x?x2xf32>
    %scores = qt.contract %q, %heads batch [0] x [1] over [2] x [2] : tensor<2x?x2xf32>, tensor<?x2x2xf32> -> tensor<2x?x?xf32>
    %masked = qt.causal_mask %docs, %scores : !qt.segments, tensor<2x?x?xf32>
    %p = qt.softmax %masked : tensor<2x?x?xf32>
    return
  }
}
