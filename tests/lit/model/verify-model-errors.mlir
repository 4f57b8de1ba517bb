// What is no model is refused before anything else happens.
// RUN: qcc-opt %s --verify-model --split-input-file --verify-diagnostics

// expected-error @below {{expected a function with the attribute #qt.entry<model>, got none}}
module {
}

// -----

module {
  // expected-error @below {{expected only the entry function <model> in the phase model}}
  func.func @helper() {
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
  // expected-error @below {{expected one !qt.segments without a bucket, got 1 segments arguments}}
  func.func @model(%ids: tensor<64xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<64xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments<64, 2, 64, 64> {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    return
  }
}

// -----

module {
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    // expected-error @below {{expected at most two extents that count tokens, got 'tensor<?x?x?xf32>'}}
    %cube = qt.zeros : tensor<?x?x?xf32>
    return
  }
}

// -----

// A model.
module {
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    return
  }
}
