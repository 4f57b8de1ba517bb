// Projections of one input become one product by stacked weights; the parts are views of it.
// RUN: qcc-opt %s --form-parameter-packs | FileCheck %s

// Members in the order of their projections, not of the symbols; the name is their dotted prefix.
// CHECK:      qt.parameter @layers.0.mlp.up_proj.weight
// CHECK-NEXT: qt.parameter @layers.0.mlp.gate_proj.weight
// CHECK-NEXT: qt.parameter_pack @layers.0.mlp.pack [@layers.0.mlp.gate_proj.weight, @layers.0.mlp.up_proj.weight] : tensor<10x8xbf16>
qt.parameter @layers.0.mlp.up_proj.weight : tensor<4x8xbf16> init <zeros> names ["up"]
qt.parameter @layers.0.mlp.gate_proj.weight : tensor<6x8xbf16> init <zeros> names ["gate"]

// CHECK-LABEL: func @two
// CHECK-SAME:  (%[[X:.*]]: tensor<?x8xbf16>)
// CHECK-NEXT:    %[[W:.*]] = qt.read @layers.0.mlp.pack {qt.scope = "layers.0.mlp"} : tensor<10x8xbf16>
// CHECK-NEXT:    %[[Y:.*]] = qt.linear %[[X]], %[[W]] {qt.scope = "layers.0.mlp"} : tensor<?x8xbf16>, tensor<10x8xbf16> -> tensor<?x10xbf16>
// CHECK-NEXT:    %[[P:.*]]:2 = qt.split %[[Y]] dim 1 {qt.scope = "layers.0.mlp"} : tensor<?x10xbf16> -> tensor<?x6xbf16>, tensor<?x4xbf16>
// CHECK-NEXT:    qt.watch %[[P]]#0 as "gate"
// CHECK-NEXT:    return %[[P]]#0, %[[P]]#1
func.func @two(%x: tensor<?x8xbf16>) -> (tensor<?x6xbf16>, tensor<?x4xbf16>) {
  %gw = qt.read @layers.0.mlp.gate_proj.weight : tensor<6x8xbf16>
  %g = qt.linear %x, %gw {qt.scope = "layers.0.mlp.gate_proj"} : tensor<?x8xbf16>, tensor<6x8xbf16> -> tensor<?x6xbf16>
  qt.watch %g as "gate" : tensor<?x6xbf16>
  %uw = qt.read @layers.0.mlp.up_proj.weight : tensor<4x8xbf16>
  %u = qt.linear %x, %uw {qt.scope = "layers.0.mlp.up_proj"} : tensor<?x8xbf16>, tensor<4x8xbf16> -> tensor<?x4xbf16>
  return %g, %u : tensor<?x6xbf16>, tensor<?x4xbf16>
}

// Names without a common prefix; the second pack's name is made unique.
// CHECK: qt.parameter_pack @pack [@a, @b]
// CHECK: qt.parameter_pack @[[SECOND:pack_.*]] [@c, @d]
qt.parameter @a : tensor<4x8xf32> init <zeros> names ["a"]
qt.parameter @b : tensor<4x8xf32> init <zeros> names ["b"]
qt.parameter @c : tensor<4x4xf32> init <zeros> names ["c"]
qt.parameter @d : tensor<4x4xf32> init <zeros> names ["d"]

// CHECK-LABEL: func @unique
// CHECK:         qt.read @pack :
// CHECK:         qt.read @[[SECOND]] :
func.func @unique(%x: tensor<?x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %aw = qt.read @a : tensor<4x8xf32>
  %a = qt.linear %x, %aw : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  %bw = qt.read @b : tensor<4x8xf32>
  %b = qt.linear %x, %bw : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  %cw = qt.read @c : tensor<4x4xf32>
  %c = qt.linear %a, %cw : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  %dw = qt.read @d : tensor<4x4xf32>
  %d = qt.linear %a, %dw : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  return %b, %c, %d : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// A projection alone stays.
// CHECK-LABEL: func @alone
// CHECK:         qt.read @alone.weight
// CHECK-NOT:     qt.split
qt.parameter @alone.weight : tensor<4x8xf32> init <zeros> names ["alone"]
func.func @alone(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %w = qt.read @alone.weight : tensor<4x8xf32>
  %y = qt.linear %x, %w : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
