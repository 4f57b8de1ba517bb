// What is no model is refused before anything else happens.
// RUN: qcc-opt %s --verify-model --split-input-file --verify-diagnostics

// expected-error @below {{expected a module with the attributes qt.vocabulary and qt.model_config}}
module {
}

// -----

// expected-error @below {{expected a function with the attribute #qt.entry<model>, got none}}
module attributes {qt.vocabulary = 8 : i64, qt.model_config = "{}"} {
}

// -----

module attributes {qt.vocabulary = 8 : i64, qt.model_config = "{}"} {
  // expected-error @below {{expected only the entry function <model> in the phase model}}
  func.func @helper() {
    return
  }
}

// -----

module attributes {qt.vocabulary = 8 : i64, qt.model_config = "{}"} {
  // expected-error @below {{expected an argument of the role labels, got none}}
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %docs: !qt.segments {qt.argument = #qt.argument<segments>})
      attributes {qt.entry = #qt.entry<model>} {
    return
  }
}

// -----

module attributes {qt.vocabulary = 8 : i64, qt.model_config = "{}"} {
  // expected-error @below {{expected one !qt.segments without a bucket, got 1 segments arguments}}
  func.func @model(%ids: tensor<64xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<64xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments<64, 2, 64, 64> {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    return
  }
}

// -----

module attributes {qt.vocabulary = 8 : i64, qt.model_config = "{}"} {
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    // expected-error @below {{expected at most two extents that count tokens, got 'tensor<?x?x?xf32>'}}
    %cube = qt.zeros : tensor<?x?x?xf32>
    return
  }
}

// -----

// A model.
module attributes {qt.vocabulary = 8 : i64, qt.model_config = "{}"} {
  func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                   %docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
    return
  }
}
