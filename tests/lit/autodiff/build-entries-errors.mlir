// What cannot become entry functions.
// RUN: qcc-opt %s --split-input-file --build-entries --verify-diagnostics --allow-unregistered-dialect

// expected-error @below {{expected a function with qt.entry = #qt.entry<model>, got none}}
module {
}

// -----

// expected-error @below {{'func.func' op expected the model alone before its entry functions are built, got an entry of kind eval}}
func.func @eval() attributes {qt.entry = #qt.entry<eval>} {
  return
}

// -----

func.func @model(%x: tensor<f32>) attributes {qt.entry = #qt.entry<model>} {
  return
}
// expected-error @below {{'func.func' op expected one model, got a second}}
func.func @second() attributes {qt.entry = #qt.entry<model>} {
  return
}

// -----

// expected-error @below {{'func.func' op expected an argument of the role labels, got none}}
func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %docs: !qt.segments {qt.argument = #qt.argument<segments>})
    attributes {qt.entry = #qt.entry<model>} {
  return
}

// -----

// expected-error @below {{'func.func' op expected one result, of the role loss, got 0 results}}
func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                 %docs: !qt.segments {qt.argument = #qt.argument<segments>}) attributes {qt.entry = #qt.entry<model>} {
  return
}

// -----

// expected-error @below {{'func.func' op expected one result, of the role loss, got one without that role}}
func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                 %docs: !qt.segments {qt.argument = #qt.argument<segments>}, %x: tensor<f32>)
    -> tensor<f32> attributes {qt.entry = #qt.entry<model>} {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{'func.func' op expected a body of one block}}
func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                 %docs: !qt.segments {qt.argument = #qt.argument<segments>}, %x: tensor<f32>)
    -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<model>} {
  "other.branch"() [^bb1] : () -> ()
^bb1:
  return %x : tensor<f32>
}

// -----

func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                 %docs: !qt.segments {qt.argument = #qt.argument<segments>}, %x: tensor<f32>)
    -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<model>} {
  return %x : tensor<f32>
}
// expected-error @below {{expected the name @apply to be free for an entry function}}
func.func @apply() {
  return
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.parameter_pack @p [@w] : tensor<4xf32>
// expected-error @below {{'qt.parameter_pack' op expected each parameter in one pack, got @w of @p}}
qt.parameter_pack @q [@w] : tensor<4xf32>
func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                 %docs: !qt.segments {qt.argument = #qt.argument<segments>}, %x: tensor<f32>)
    -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<model>} {
  return %x : tensor<f32>
}

// -----

qt.parameter @w : tensor<f32> init <zeros> names ["w"]
qt.parameter @v : tensor<4xf32> init <zeros> names ["v"]
qt.parameter_pack @p [@v] : tensor<4xf32>
func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                 %docs: !qt.segments {qt.argument = #qt.argument<segments>})
    -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<model>} {
  // expected-error @below {{'qt.read' op expected a member of @p to be read through its pack only, got @v}}
  %v = qt.read @v : tensor<4xf32>
  %w = qt.read @w : tensor<f32>
  return %w : tensor<f32>
}

// -----

// expected-error @below {{'qt.parameter' op expected every trained parameter to have a gradient, but the loss does not depend on this one}}
qt.parameter @w : tensor<f32> init <zeros> names ["w"]
qt.parameter @u : tensor<f32> init <zeros> names ["u"]
func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                 %docs: !qt.segments {qt.argument = #qt.argument<segments>})
    -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<model>} {
  %w = qt.read @w : tensor<f32>
  %u = qt.read @u : tensor<f32>
  %loss = qt.exp %u : tensor<f32>
  return %loss : tensor<f32>
}

// -----

qt.parameter @embed : tensor<8x4xf32> init <zeros> names ["embed"]
func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                 %docs: !qt.segments {qt.argument = #qt.argument<segments>})
    -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<model>} {
  %e = qt.read @embed : tensor<8x4xf32>
  %x = qt.embedding %docs, %ids, %e : (!qt.segments, tensor<?xi32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %logits = qt.linear %x, %e : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
  // expected-error @below {{'qt.cross_entropy' op expected an op with an adjoint between a trained parameter and the loss; form compounds before autodiff}}
  %loss = qt.cross_entropy %logits, %labels : tensor<?x8xf32>, tensor<?xi32> -> tensor<f32>
  return %loss : tensor<f32>
}
