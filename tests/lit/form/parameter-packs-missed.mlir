// Of the projections of one input, those that cannot join say why; the others are packed all the same.
// RUN: qcc-opt %s --form-parameter-packs --remarks-filter-missed=form --split-input-file --verify-diagnostics | FileCheck %s

// CHECK:     qt.parameter_pack @pack [@a, @c]
// CHECK-NOT: qt.parameter_pack
qt.parameter @a : tensor<4x8xf32> init <zeros> names ["a"]
qt.parameter @b : tensor<4x8xf32> frozen init <zeros> names ["b"]
qt.parameter @c : tensor<2x8xf32> init <zeros> names ["c"]
func.func @frozen(%x: tensor<?x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x2xf32>) {
  %aw = qt.read @a : tensor<4x8xf32>
  %a = qt.linear %x, %aw : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  %bw = qt.read @b : tensor<4x8xf32>
  // expected-remark @below {{expected a weight like the first projection's, a trained tensor<4x8xf32>, up to its rows; got a frozen tensor<4x8xf32>}}
  %b = qt.linear %x, %bw : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  %cw = qt.read @c : tensor<2x8xf32>
  %c = qt.linear %x, %cw : tensor<?x8xf32>, tensor<2x8xf32> -> tensor<?x2xf32>
  return %a, %b, %c : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x2xf32>
}

// -----

// A weight that something else reads keeps a gradient of its own.
// CHECK-LABEL: func @shared
// CHECK-NOT: qt.parameter_pack
qt.parameter @a : tensor<4x8xf32> init <zeros> names ["a"]
qt.parameter @b : tensor<4x8xf32> init <zeros> names ["b"]
func.func @shared(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x8xf32>) {
  %aw = qt.read @a : tensor<4x8xf32>
  // expected-remark @below {{expected nothing else to read @a; got other readers}}
  %a = qt.linear %x, %aw : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  %again = qt.read @a : tensor<4x8xf32>
  %bw = qt.read @b : tensor<4x8xf32>
  %b = qt.linear %x, %bw : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  // expected-remark @below {{expected a parameter as weight; got argument 1}}
  %c = qt.linear %x, %w : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  return %a, %b, %c, %again : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x8xf32>
}
