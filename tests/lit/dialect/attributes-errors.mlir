// What the verifiers of the dialect's types and attributes refuse.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics

func.func @scope(%x: tensor<4xf32>) {
  // expected-error @below {{'qt.exp' op expected qt.scope to be a string, got 3 : i64}}
  %r = qt.exp %x {qt.scope = 3 : i64} : tensor<4xf32>
  return
}

// -----

func.func @recomputed(%x: tensor<4xf32>) {
  // expected-error @below {{'qt.exp' op expected qt.recomputed to be a unit attribute, got true}}
  %r = qt.exp %x {qt.recomputed = true} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{'func.func' op expected qt.entry to be a #qt.entry, got "step"}}
func.func @entry_type() attributes {qt.entry = "step"} {
  return
}

// -----

// expected-error @below {{'builtin.module' op expected qt.entry on a function only}}
module attributes {qt.entry = #qt.entry<step>} {
}

// -----

// expected-error @below {{'func.func' op expected qt.argument to be a #qt.argument on a function's argument, got "ids"}}
func.func @argument_type(%ids: tensor<?xi32> {qt.argument = "ids"}) {
  return
}

// -----

// expected-error @below {{'func.func' op expected argument 0, ids, to be an i32 vector, got 'tensor<?xi64>'}}
func.func @ids(%ids: tensor<?xi64> {qt.argument = #qt.argument<ids>}) {
  return
}

// -----

// expected-error @below {{'func.func' op expected argument 0, labels, to be an i32 vector, got 'tensor<?x1xi32>'}}
func.func @labels(%labels: tensor<?x1xi32> {qt.argument = #qt.argument<labels>}) {
  return
}

// -----

// expected-error @below {{'func.func' op expected argument 0, embedding_order, to be an i32 vector, got 'tensor<?xf32>'}}
func.func @embedding_order(%order: tensor<?xf32> {qt.argument = #qt.argument<embedding_order>}) {
  return
}

// -----

// expected-error @below {{'func.func' op expected argument 0, segments, to be !qt.segments, got 'tensor<?xi32>'}}
func.func @segments(%docs: tensor<?xi32> {qt.argument = #qt.argument<segments>}) {
  return
}

// -----

// expected-error @below {{'func.func' op expected argument 0, inverse_tokens, to be an f32 or f64 scalar tensor, got 'tensor<bf16>'}}
func.func @inverse_tokens(%n: tensor<bf16> {qt.argument = #qt.argument<inverse_tokens>}) {
  return
}

// -----

// expected-error @below {{'func.func' op expected argument 0, hyper, to be tensor<8xf32>, got 'tensor<7xf32>'}}
func.func @hyper(%hyper: tensor<7xf32> {qt.argument = #qt.argument<hyper>}) {
  return
}

// -----

// expected-error @below {{'func.func' op expected argument 0, seed, to be an i64 scalar tensor, got 'tensor<i32>'}}
func.func @seed(%seed: tensor<i32> {qt.argument = #qt.argument<seed>}) {
  return
}

// -----

// expected-error @below {{'func.func' op expected one argument of the role ids, got arguments 0 and 1}}
func.func @ids_twice(%a: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %b: tensor<?xi32> {qt.argument = #qt.argument<ids>}) {
  return
}

// -----

// expected-error @below {{'func.func' op expected qt.result to be a #qt.result on a function's result, got 1 : i64}}
func.func @result_type(%x: tensor<f32>) -> (tensor<f32> {qt.result = 1 : i64}) {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{'func.func' op expected result 0, loss, to be an f32 or f64 scalar tensor, got 'tensor<1xf32>'}}
func.func @loss(%x: tensor<1xf32>) -> (tensor<1xf32> {qt.result = #qt.result<loss>}) {
  return %x : tensor<1xf32>
}

// -----

// expected-error @below {{'func.func' op expected result 0, grad_norm, to be an f32 or f64 scalar tensor, got 'tensor<bf16>'}}
func.func @grad_norm(%x: tensor<bf16>) -> (tensor<bf16> {qt.result = #qt.result<grad_norm>}) {
  return %x : tensor<bf16>
}

// -----

// expected-error @below {{'func.func' op expected result 0, row_loss, to be an f32 or f64 vector, got 'tensor<f32>'}}
func.func @row_loss(%x: tensor<f32>) -> (tensor<f32> {qt.result = #qt.result<row_loss>}) {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{expected a bucket of positive extents, got <128, 0, 64, 96>}}
func.func @bucket_zero(%docs: !qt.segments<128, 0, 64, 96>) {
  return
}

// -----

// expected-error @below {{expected no more documents, longest or trained tokens than tokens (128), got 4, 64 and 129}}
func.func @bucket_trained(%docs: !qt.segments<128, 4, 64, 129>) {
  return
}

// -----

// expected-error @below {{expected an initial value of kind zeros, ones, normal or log_uniform, got uniform}}
qt.parameter @w : tensor<4xf32> init <uniform, 0.0, 1.0> names ["w"]

// -----

// expected-error @below {{'builtin.module' op expected qt.other_tensors to be an array of strings that are not empty, got "mtp."}}
module attributes {qt.other_tensors = "mtp."} {}

// -----

// expected-error @below {{'builtin.module' op expected qt.other_tensors to be an array of strings that are not empty, got ["mtp.", ""]}}
module attributes {qt.other_tensors = ["mtp.", ""]} {}
