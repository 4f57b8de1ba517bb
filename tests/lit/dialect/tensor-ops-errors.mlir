// What the verifiers of the tensor ops refuse.
// RUN: qcc-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @add_rhs_shape(%lhs: tensor<?x4x6xf32>, %rhs: tensor<4xf32>) {
  // expected-error @below {{'qt.add' op expected rhs of the type of lhs, 'tensor<?x4x6xf32>', or that of its last dimensions, got 'tensor<4xf32>'}}
  %r = qt.add %lhs, %rhs : tensor<?x4x6xf32>, tensor<4xf32>
  return
}

// -----

func.func @add_rhs_type(%lhs: tensor<?x4x6xf32>, %rhs: tensor<6xbf16>) {
  // expected-error @below {{'qt.add' op expected rhs of the type of lhs, 'tensor<?x4x6xf32>', or that of its last dimensions, got 'tensor<6xbf16>'}}
  %r = qt.add %lhs, %rhs : tensor<?x4x6xf32>, tensor<6xbf16>
  return
}

// -----

func.func @add_rhs_rank(%lhs: tensor<6xf32>, %rhs: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.add' op expected rhs of the type of lhs, 'tensor<6xf32>', or that of its last dimensions, got 'tensor<?x4x6xf32>'}}
  %r = qt.add %lhs, %rhs : tensor<6xf32>, tensor<?x4x6xf32>
  return
}

// -----

func.func @add_leading(%lhs: tensor<?x4x6xf32>, %rhs: tensor<?xf32>) {
  // expected-error @below {{'qt.add' op expected rhs of the type of lhs, 'tensor<?x4x6xf32>', or that of its last dimensions, got 'tensor<?xf32>'}}
  %r = qt.add %lhs, %rhs : tensor<?x4x6xf32>, tensor<?xf32>
  return
}

// -----

func.func @sub_rhs_shape(%lhs: tensor<?x4x6xf32>, %rhs: tensor<4xf32>) {
  // expected-error @below {{'qt.sub' op expected rhs of the type of lhs, 'tensor<?x4x6xf32>', or that of its last dimensions, got 'tensor<4xf32>'}}
  %r = qt.sub %lhs, %rhs : tensor<?x4x6xf32>, tensor<4xf32>
  return
}

// -----

func.func @mul_rhs_shape(%lhs: tensor<?x4x6xf32>, %rhs: tensor<4xf32>) {
  // expected-error @below {{'qt.mul' op expected rhs of the type of lhs, 'tensor<?x4x6xf32>', or that of its last dimensions, got 'tensor<4xf32>'}}
  %r = qt.mul %lhs, %rhs : tensor<?x4x6xf32>, tensor<4xf32>
  return
}

// -----

func.func @cast_y(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.cast' op expected result of type 'tensor<?x4x6xbf16>', got 'tensor<?x4x9xbf16>'}}
  %r = qt.cast %x : tensor<?x4x6xf32> -> tensor<?x4x9xbf16>
  return
}

// -----

func.func @reshape_elements(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.reshape' op expected a result of as many elements of the same type as 'tensor<?x4x6xf32>', got 'tensor<?x25xf32>'}}
  %r = qt.reshape %x : tensor<?x4x6xf32> -> tensor<?x25xf32>
  return
}

// -----

func.func @reshape_type(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.reshape' op expected a result of as many elements of the same type as 'tensor<?x4x6xf32>', got 'tensor<?x24xbf16>'}}
  %r = qt.reshape %x : tensor<?x4x6xf32> -> tensor<?x24xbf16>
  return
}

// -----

func.func @reshape_static(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.reshape' op expected a result of as many elements of the same type as 'tensor<?x4x6xf32>', got 'tensor<7x24xf32>'}}
  %r = qt.reshape %x : tensor<?x4x6xf32> -> tensor<7x24xf32>
  return
}

// -----

func.func @reshape_dynamic_x(%x: tensor<4x?xf32>) {
  // expected-error @below {{'qt.reshape' op expected no dynamic dimension but the first, got 'tensor<4x?xf32>'}}
  %r = qt.reshape %x : tensor<4x?xf32> -> tensor<?x24xf32>
  return
}

// -----

func.func @reshape_dynamic_y(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.reshape' op expected no dynamic dimension but the first, got 'tensor<24x?xf32>'}}
  %r = qt.reshape %x : tensor<?x4x6xf32> -> tensor<24x?xf32>
  return
}

// -----

func.func @broadcast_count(%x: tensor<?x1xf32>) {
  // expected-error @below {{'qt.broadcast' op expected a dimension of the result for each of the 2 of x, got [0]}}
  %r = qt.broadcast %x dims [0] : tensor<?x1xf32> -> tensor<?x4x6xf32>
  return
}

// -----

func.func @broadcast_order(%x: tensor<?x1xf32>) {
  // expected-error @below {{'qt.broadcast' op expected ascending dimensions from 0 to 2, got [2, 0]}}
  %r = qt.broadcast %x dims [2, 0] : tensor<?x1xf32> -> tensor<?x4x6xf32>
  return
}

// -----

func.func @broadcast_range(%x: tensor<?x1xf32>) {
  // expected-error @below {{'qt.broadcast' op expected ascending dimensions from 0 to 2, got [0, 3]}}
  %r = qt.broadcast %x dims [0, 3] : tensor<?x1xf32> -> tensor<?x4x6xf32>
  return
}

// -----

func.func @broadcast_type(%x: tensor<?x1xbf16>) {
  // expected-error @below {{'qt.broadcast' op expected a result of the element type of 'tensor<?x1xbf16>', got 'tensor<?x4x6xf32>'}}
  %r = qt.broadcast %x dims [0, 2] : tensor<?x1xbf16> -> tensor<?x4x6xf32>
  return
}

// -----

func.func @broadcast_size(%x: tensor<?x5xf32>) {
  // expected-error @below {{'qt.broadcast' op expected dimension 2 of the result to repeat dimension 1 of 'tensor<?x5xf32>', got 'tensor<?x4x6xf32>'}}
  %r = qt.broadcast %x dims [0, 2] : tensor<?x5xf32> -> tensor<?x4x6xf32>
  return
}

// -----

func.func @transpose_twice(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.transpose' op expected a permutation of the 3 dimensions of x, got [0, 0, 2]}}
  %r = qt.transpose %x [0, 0, 2] : tensor<?x4x6xf32> -> tensor<4x?x6xf32>
  return
}

// -----

func.func @transpose_range(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.transpose' op expected a permutation of the 3 dimensions of x, got [0, 1, 3]}}
  %r = qt.transpose %x [0, 1, 3] : tensor<?x4x6xf32> -> tensor<4x?x6xf32>
  return
}

// -----

func.func @transpose_count(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.transpose' op expected a permutation of the 3 dimensions of x, got [1, 0]}}
  %r = qt.transpose %x [1, 0] : tensor<?x4x6xf32> -> tensor<4x?x6xf32>
  return
}

// -----

func.func @transpose_result(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.transpose' op expected result of type 'tensor<4x?x6xf32>', got 'tensor<?x4x6xf32>'}}
  %r = qt.transpose %x [1, 0, 2] : tensor<?x4x6xf32> -> tensor<?x4x6xf32>
  return
}

// -----

func.func @reduce_sum_order(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.reduce_sum' op expected ascending dimensions from 0 to 2, got [2, 0]}}
  %r = qt.reduce_sum %x dims [2, 0] : tensor<?x4x6xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_sum_range(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.reduce_sum' op expected ascending dimensions from 0 to 2, got [-1]}}
  %r = qt.reduce_sum %x dims [-1] : tensor<?x4x6xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_sum_result(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.reduce_sum' op expected result of type 'tensor<4xf32>', got 'tensor<6xf32>'}}
  %r = qt.reduce_sum %x dims [0, 2] : tensor<?x4x6xf32> -> tensor<6xf32>
  return
}

// -----

func.func @split_sum(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.split' op expected parts of together 6 along dimension 2, got 5}}
  %r:2 = qt.split %x dim 2 : tensor<?x4x6xf32> -> tensor<?x4x2xf32>, tensor<?x4x3xf32>
  return
}

// -----

func.func @split_type(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.split' op expected parts of 'tensor<?x4x6xf32>' along dimension 2, got 'tensor<?x4x4xbf16>'}}
  %r:2 = qt.split %x dim 2 : tensor<?x4x6xf32> -> tensor<?x4x2xf32>, tensor<?x4x4xbf16>
  return
}

// -----

func.func @split_other(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.split' op expected parts of 'tensor<?x4x6xf32>' along dimension 2, got 'tensor<?x5x4xf32>'}}
  %r:2 = qt.split %x dim 2 : tensor<?x4x6xf32> -> tensor<?x4x2xf32>, tensor<?x5x4xf32>
  return
}

// -----

func.func @split_rank(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.split' op expected parts of 'tensor<?x4x6xf32>' along dimension 2, got 'tensor<?x4xf32>'}}
  %r:2 = qt.split %x dim 2 : tensor<?x4x6xf32> -> tensor<?x4x2xf32>, tensor<?x4xf32>
  return
}

// -----

func.func @split_dim(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.split' op expected a dimension from 0 to 2, got 3}}
  %r:2 = qt.split %x dim 3 : tensor<?x4x6xf32> -> tensor<?x4x2xf32>, tensor<?x4x4xf32>
  return
}

// -----

func.func @split_dynamic(%x: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.split' op expected a dimension of known size, got dimension 0 of 'tensor<?x4x6xf32>'}}
  %r:2 = qt.split %x dim 0 : tensor<?x4x6xf32> -> tensor<?x4x2xf32>, tensor<?x4x4xf32>
  return
}

// -----

func.func @join_sum(%a: tensor<?x4x2xf32>, %b: tensor<?x4x3xf32>) {
  // expected-error @below {{'qt.join' op expected parts of together 6 along dimension 2, got 5}}
  %r = qt.join %a, %b dim 2 : tensor<?x4x2xf32>, tensor<?x4x3xf32> -> tensor<?x4x6xf32>
  return
}

// -----

func.func @join_dim(%a: tensor<?x4x2xf32>, %b: tensor<?x4x4xf32>) {
  // expected-error @below {{'qt.join' op expected a dimension from 0 to 2, got -1}}
  %r = qt.join %a, %b dim -1 : tensor<?x4x2xf32>, tensor<?x4x4xf32> -> tensor<?x4x6xf32>
  return
}

// -----

func.func @join_nothing() {
  // expected-error @below {{'qt.join' op expected at least one part}}
  %r = "qt.join"() {dim = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @contract_type(%a: tensor<?x4x6xf32>, %b: tensor<?x4x6xbf16>) {
  // expected-error @below {{'qt.contract' op expected operands of one element type, got 'tensor<?x4x6xf32>' and 'tensor<?x4x6xbf16>'}}
  %r = qt.contract %a, %b batch [1] x [1] over [2] x [2] : tensor<?x4x6xf32>, tensor<?x4x6xbf16> -> tensor<4x?x?xf32>
  return
}

// -----

func.func @contract_batch_count(%a: tensor<?x4x6xf32>, %b: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.contract' op expected as many batch dimensions of lhs as of rhs, got [1] and []}}
  %r = qt.contract %a, %b batch [1] x [] over [2] x [2] : tensor<?x4x6xf32>, tensor<?x4x6xf32> -> tensor<4x?x?xf32>
  return
}

// -----

func.func @contract_contracted_count(%a: tensor<?x4x6xf32>, %b: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.contract' op expected as many contracted dimensions of lhs as of rhs, got [2] and [0, 2]}}
  %r = qt.contract %a, %b batch [1] x [1] over [2] x [0, 2] : tensor<?x4x6xf32>, tensor<?x4x6xf32> -> tensor<4x?x?xf32>
  return
}

// -----

func.func @contract_range(%a: tensor<?x4x6xf32>, %b: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.contract' op expected batch dimensions of 'tensor<?x4x6xf32>' and 'tensor<?x4x6xf32>', got [3] and [1]}}
  %r = qt.contract %a, %b batch [3] x [1] over [2] x [2] : tensor<?x4x6xf32>, tensor<?x4x6xf32> -> tensor<4x?x?xf32>
  return
}

// -----

func.func @contract_size(%a: tensor<?x4x6xf32>, %b: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.contract' op expected contracted dimensions of one size, got dimension 2 of 'tensor<?x4x6xf32>' and dimension 0 of 'tensor<?x4x6xf32>'}}
  %r = qt.contract %a, %b batch [1] x [1] over [2] x [0] : tensor<?x4x6xf32>, tensor<?x4x6xf32> -> tensor<4x?x?xf32>
  return
}

// -----

func.func @contract_twice(%a: tensor<?x4x6xf32>, %b: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.contract' op expected each dimension of lhs once, got batch [1] and contracted [1]}}
  %r = qt.contract %a, %b batch [1] x [1] over [1] x [1] : tensor<?x4x6xf32>, tensor<?x4x6xf32> -> tensor<4x?x?xf32>
  return
}

// -----

func.func @contract_twice_rhs(%a: tensor<?x4x4xf32>, %b: tensor<?x4x4xf32>) {
  // expected-error @below {{'qt.contract' op expected each dimension of rhs once, got batch [1] and contracted [1]}}
  %r = qt.contract %a, %b batch [1] x [1] over [2] x [1] : tensor<?x4x4xf32>, tensor<?x4x4xf32> -> tensor<4x?x?xf32>
  return
}

// -----

func.func @contract_result(%a: tensor<?x4x6xf32>, %b: tensor<?x4x6xf32>) {
  // expected-error @below {{'qt.contract' op expected result of type 'tensor<4x?x?xf32>', got 'tensor<?x4x?xf32>'}}
  %r = qt.contract %a, %b batch [1] x [1] over [2] x [2] : tensor<?x4x6xf32>, tensor<?x4x6xf32> -> tensor<?x4x?xf32>
  return
}

// -----

func.func @causal_mask_rank(%docs: !qt.segments, %s: tensor<?xf32>) {
  // expected-error @below {{'qt.causal_mask' op expected scores whose last two dimensions are the tokens, got 'tensor<?xf32>'}}
  %r = qt.causal_mask %docs, %s : !qt.segments, tensor<?xf32>
  return
}

// -----

func.func @causal_mask_square(%docs: !qt.segments, %s: tensor<4x?x7xf32>) {
  // expected-error @below {{'qt.causal_mask' op expected scores whose last two dimensions are the tokens, got 'tensor<4x?x7xf32>'}}
  %r = qt.causal_mask %docs, %s : !qt.segments, tensor<4x?x7xf32>
  return
}

// -----

func.func @causal_mask_tokens(%docs: !qt.segments<128, 4, 64, 96>, %s: tensor<4x64x64xf32>) {
  // expected-error @below {{'qt.causal_mask' op expected scores of the 128 tokens of '!qt.segments<128, 4, 64, 96>', got 'tensor<4x64x64xf32>'}}
  %r = qt.causal_mask %docs, %s : !qt.segments<128, 4, 64, 96>, tensor<4x64x64xf32>
  return
}

// -----

func.func @softmax_of_a_scalar(%x: tensor<f32>) {
  // expected-error @below {{'qt.softmax' op operand #0 must be tensor with a row per token of 32-bit float or bfloat16 type or 64-bit float values, but got 'tensor<f32>'}}
  %r = qt.softmax %x : tensor<f32>
  return
}

// -----

func.func @scan_of_nothing(%docs: !qt.segments) {
  // expected-error @below {{'qt.scan' op expected at least one row operand}}
  "qt.scan"(%docs) <{state = tensor<2xf32>}> ({
  ^bb0(%s: tensor<2xf32>):
    qt.yield %s : tensor<2xf32>
  }) : (!qt.segments) -> ()
  return
}

// -----

func.func @scan_rows(%docs: !qt.segments, %x: tensor<8x2xf32>) {
  // expected-error @below {{'qt.scan' op expected rows and results of as many tokens, got 'tensor<8x2xf32>' and 'tensor<9x2xf32>'}}
  %r = qt.scan %docs, %x state tensor<2xf32> : !qt.segments, tensor<8x2xf32> -> tensor<9x2xf32> {
  ^bb0(%s: tensor<2xf32>, %x_t: tensor<2xf32>):
    qt.yield %s, %x_t : tensor<2xf32>, tensor<2xf32>
  }
  return
}

// -----

func.func @scan_tokens(%docs: !qt.segments<16, 1, 16, 16>, %x: tensor<8x2xf32>) {
  // expected-error @below {{'qt.scan' op expected each operand and result to have a row for each of the 16 tokens of '!qt.segments<16, 1, 16, 16>', got 'tensor<8x2xf32>'}}
  %r = qt.scan %docs, %x state tensor<2xf32> : !qt.segments<16, 1, 16, 16>, tensor<8x2xf32> -> tensor<8x2xf32> {
  ^bb0(%s: tensor<2xf32>, %x_t: tensor<2xf32>):
    qt.yield %s, %x_t : tensor<2xf32>, tensor<2xf32>
  }
  return
}

// -----

func.func @scan_state(%docs: !qt.segments, %x: tensor<?x2xf32>) {
  // expected-error @below {{'qt.scan' op expected a state of known shape, got 'tensor<?xf32>'}}
  %r = qt.scan %docs, %x state tensor<?xf32> : !qt.segments, tensor<?x2xf32> -> tensor<?x2xf32> {
  ^bb0(%s: tensor<?xf32>, %x_t: tensor<2xf32>):
    qt.yield %s, %x_t : tensor<?xf32>, tensor<2xf32>
  }
  return
}

// -----

func.func @scan_arguments(%docs: !qt.segments, %x: tensor<?x2xf32>) {
  // expected-error @below {{'qt.scan' op expected a body of ('tensor<3xf32>', 'tensor<2xf32>'), got ('tensor<2xf32>', 'tensor<2xf32>')}}
  %r = qt.scan %docs, %x state tensor<3xf32> : !qt.segments, tensor<?x2xf32> -> tensor<?x2xf32> {
  ^bb0(%s: tensor<2xf32>, %x_t: tensor<2xf32>):
    qt.yield %s, %x_t : tensor<2xf32>, tensor<2xf32>
  }
  return
}

// -----

func.func @scan_yield(%docs: !qt.segments, %x: tensor<?x2xf32>) {
  // expected-error @below {{'qt.scan' op expected the body to yield ('tensor<3xf32>', 'tensor<2xf32>'), got ('tensor<3xf32>')}}
  %r = qt.scan %docs, %x state tensor<3xf32> : !qt.segments, tensor<?x2xf32> -> tensor<?x2xf32> {
  ^bb0(%s: tensor<3xf32>, %x_t: tensor<2xf32>):
    qt.yield %s : tensor<3xf32>
  }
  return
}

// -----

func.func @scan_terminator(%docs: !qt.segments, %x: tensor<?x2xf32>) {
  // expected-error @below {{'qt.scan' op expected the body to end in qt.yield, got other.end}}
  %r = qt.scan %docs, %x state tensor<3xf32> : !qt.segments, tensor<?x2xf32> -> tensor<?x2xf32> {
  ^bb0(%s: tensor<3xf32>, %x_t: tensor<2xf32>):
    "other.end"() : () -> ()
  }
  return
}

// -----

func.func @scale_factor(%x: tensor<6xf32>) {
  // expected-error @below {{'qt.scale' op expected a factor that is finite in f32, got nan}}
  %r = qt.scale %x by 0xFFF8000000000000 : tensor<6xf32>
  return
}

// -----

func.func @scale_factor_beyond_f32(%x: tensor<6xf32>) {
  // expected-error @below {{'qt.scale' op expected a factor that is finite in f32, got 1e+300}}
  %r = qt.scale %x by 1.0e300 : tensor<6xf32>
  return
}
