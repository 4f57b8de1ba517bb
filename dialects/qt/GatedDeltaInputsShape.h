// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of gated_delta_inputs, which the op and its adjoint share (letters as in runtime/kernels/catalog.def).
#ifndef DIALECTS_QT_GATEDDELTAINPUTSSHAPE_H
#define DIALECTS_QT_GATEDDELTAINPUTSSHAPE_H

#include "dialects/qt/TypeChecks.h"

namespace qt {

/// What the op results in, or the cotangents of that: of the same types.
struct GatedDeltaInputsResults {
  mlir::Value q, k, v, g, beta;
};

/// The op, or its adjoint: what both read, from qkv [T, C] to the weights, and `results`, has the extents that qkv, q,
/// v and the taps of conv_weight say. `prefix` stands before the results' names in messages ("d" for cotangents).
template <typename Op>
llvm::LogicalResult verifyGatedDeltaInputs(Op op, const GatedDeltaInputsResults &results, llvm::StringRef prefix) {
  auto named = [&](llvm::StringRef name) { return (prefix + name).str(); };
  if (failed(expectRank(op, "qkv", op.getQkv(), 2)) || failed(expectRank(op, named("q"), results.q, 3)) ||
      failed(expectRank(op, named("v"), results.v, 3)) ||
      failed(expectRank(op, "conv_weight", op.getConvWeight(), 3)) ||
      failed(expectTokens(op, "qkv", op.getQkv(), op.getDocs().getType())))
    return llvm::failure();
  llvm::ArrayRef<int64_t> q = shapeOf(results.q), v = shapeOf(results.v);
  int64_t tokens = shapeOf(op.getQkv())[0], channels = shapeOf(op.getQkv())[1], heads = v[1];
  mlir::Type element = elementTypeOf(op.getQkv()), wide = accumulatorType(element);
  if (channels != 2 * q[1] * q[2] + heads * v[2])
    return op.emitOpError("expected qkv to have the channels of ")
           << named("q") << ", " << named("k") << " and " << named("v") << ", 2 * " << q[1] * q[2] << " + "
           << heads * v[2] << ", got " << channels;
  if (failed(expectType(op, named("q"), results.q, {tokens, q[1], q[2]}, element)) ||
      failed(expectType(op, named("k"), results.k, results.q.getType())) ||
      failed(expectType(op, named("v"), results.v, {tokens, heads, v[2]}, element)) ||
      failed(expectType(op, "b", op.getB(), {tokens, heads}, element)) ||
      failed(expectType(op, "a", op.getA(), {tokens, heads}, element)) ||
      failed(expectWeight(op, "conv_weight", op.getConvWeight(), {channels, 1, shapeOf(op.getConvWeight())[2]},
                          element)) ||
      failed(expectWeight(op, "a_log", op.getALog(), heads, element)) ||
      failed(expectWeight(op, "dt_bias", op.getDtBias(), heads, element)) ||
      failed(expectType(op, named("g"), results.g, {tokens, heads}, wide)) ||
      failed(expectWeight(op, named("beta"), results.beta, {tokens, heads}, element)))
    return llvm::failure();
  return expectEps(op, op.getEps());
}

} // namespace qt

#endif // DIALECTS_QT_GATEDDELTAINPUTSSHAPE_H
