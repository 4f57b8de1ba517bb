// What cannot be specialised.
// RUN: qcc-opt %s --split-input-file --specialize-buckets=buckets=128x4x96x64 --verify-diagnostics

// expected-error @below {{expected entry functions for any row, to make those of a bucket from, got none}}
module {
  func.func @no_entry(%docs: !qt.segments) {
    return
  }
}

// -----

func.func @step(%docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<step>} {
  return
}
// expected-error @below {{expected the name @step.128x4x96x64 to be free for the bucket 128x4x96x64}}
func.func @step.128x4x96x64() {
  return
}

// -----

func.func @step(%docs: !qt.segments {qt.argument = #qt.argument<segments>}, %x: tensor<?x4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %r = qt.gather_rows %docs, %x : (!qt.segments, tensor<?x4xf32>) -> tensor<?x4xf32>
  // expected-error @below {{'qt.add' op expected either tokens or trained rows, got both}}
  %y = qt.add %x, %r : tensor<?x4xf32>, tensor<?x4xf32>
  return
}

// -----

func.func @step(%docs: !qt.segments {qt.argument = #qt.argument<segments>}, %x: tensor<?x4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %r = qt.gather_rows %docs, %x : (!qt.segments, tensor<?x4xf32>) -> tensor<?x4xf32>
  // expected-error @below {{'qt.gather_rows' op expected x to have a row per token, got trained rows}}
  %y = qt.gather_rows %docs, %r : (!qt.segments, tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @step(%docs: !qt.segments {qt.argument = #qt.argument<segments>}, %x: tensor<?x4xf32>) attributes {qt.entry = #qt.entry<step>} {
  // expected-error @below {{'qt.scatter_rows' op expected dout to have the trained rows, got a row per token}}
  %y = qt.scatter_rows %docs, %x : (!qt.segments, tensor<?x4xf32>) -> (tensor<?x4xf32>)
  return
}
