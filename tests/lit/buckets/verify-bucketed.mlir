// The exit contract of the phase bucketed.
// RUN: qcc-opt %s --split-input-file --verify-bucketed --verify-diagnostics

!docs = !qt.segments<128, 4, 96, 64>
// Functions for any row may stay.
func.func @step(%docs: !qt.segments {qt.argument = #qt.argument<segments>}, %x: tensor<?xf32>) attributes {qt.entry = #qt.entry<step>} {
  return
}
func.func @step.b(%docs: !docs {qt.argument = #qt.argument<segments>}, %x: tensor<128xf32>) attributes {qt.entry = #qt.entry<step>} {
  return
}
func.func @accumulate.b(%docs: !docs {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<accumulate>} {
  return
}
func.func @eval.b(%docs: !docs {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<eval>} {
  return
}
func.func @apply() attributes {qt.entry = #qt.entry<apply>} {
  return
}

// -----

// expected-error @below {{expected entry functions of at least one bucket, got none}}
module {
  func.func @step(%docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<step>} {
    return
  }
  func.func @apply() attributes {qt.entry = #qt.entry<apply>} {
    return
  }
}

// -----

// expected-error @below {{expected an entry function of kind accumulate for the bucket '!qt.segments<128, 4, 96, 64>', got none}}
module {
  func.func @step(%docs: !qt.segments<128, 4, 96, 64> {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<step>} {
    return
  }
}

// -----

// expected-error @below {{'func.func' op expected an argument of the role segments, got none}}
func.func @eval() attributes {qt.entry = #qt.entry<eval>} {
  return
}

// -----

// expected-error @below {{'func.func' op expected static shapes, got argument 1 of type 'tensor<?xf32>'}}
func.func @eval(%docs: !qt.segments<128, 4, 96, 64> {qt.argument = #qt.argument<segments>}, %x: tensor<?xf32>) attributes {qt.entry = #qt.entry<eval>} {
  return
}

// -----

func.func @eval(%docs: !qt.segments<128, 4, 96, 64> {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<eval>} {
  // expected-error @below {{'qt.zeros' op expected static shapes, got result 0 of type 'tensor<?x4xf32>'}}
  %x = qt.zeros : tensor<?x4xf32>
  return
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
func.func @apply(%x: tensor<4xf32>) attributes {qt.entry = #qt.entry<apply>} {
  // expected-note @below {{updated here}}
  qt.update @w, %x : tensor<4xf32>
  // expected-error @below {{'qt.update' op expected at most one update of @w in a function, got a second}}
  qt.update @w, %x : tensor<4xf32>
  return
}
