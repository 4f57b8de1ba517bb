// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of what a compound op and its gradient both read (letters as in runtime/kernels/catalog.def). Each function
// takes either of the two, whose operands and residuals have the same names.
#ifndef DIALECTS_QT_COMPOUNDOPERANDS_H
#define DIALECTS_QT_COMPOUNDOPERANDS_H

#include "dialects/qt/TypeChecks.h"
#include "runtime/base/SegmentTable.h"

namespace qt {

/// What gated_delta_inputs results in, or the cotangents of that: of the same types.
struct GatedDeltaInputsResults {
  mlir::Value q, k, v, g, beta;
};

/// What both read, from qkv [T, C] to the weights, and `results`, has the extents that qkv, q, v and the taps of
/// conv_weight say. `prefix` stands before the results' names in messages ("d" for cotangents).
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

/// q_in [T, H, D], k_in [T, G, D], weights [D], q_rstd [T, H], k_rstd [T, G], rotary dimensions within D.
template <typename Op> llvm::LogicalResult verifyQkNormRopeOperands(Op op) {
  for (auto [name, value] : {std::pair("q_in", op.getQIn()), std::pair("k_in", op.getKIn())})
    if (failed(expectRank(op, name, value, 3)) || failed(expectTokens(op, name, value, op.getDocs().getType())))
      return llvm::failure();
  llvm::ArrayRef<int64_t> q = shapeOf(op.getQIn()), k = shapeOf(op.getKIn());
  mlir::Type element = elementTypeOf(op.getQIn());
  if (failed(expectType(op, "k_in", op.getKIn(), {q[0], k[1], q[2]}, element)) ||
      failed(expectWeight(op, "q_weight", op.getQWeight(), q[2], element)) ||
      failed(expectWeight(op, "k_weight", op.getKWeight(), q[2], element)) ||
      failed(expectType(op, "q_rstd", op.getQRstd(), statisticsType(op.getQIn()))) ||
      failed(expectType(op, "k_rstd", op.getKRstd(), statisticsType(op.getKIn()))) ||
      failed(expectEps(op, op.getEps())))
    return llvm::failure();
  return expectRotary(op, op.getRotaryDims(), q[2], op.getTheta());
}

/// q and k [T, K, dk], v [T, W, dv], g and beta [T, W], inverse [T, W, 64].
template <typename Op> llvm::LogicalResult verifyGatedDeltaRuleOperands(Op op) {
  if (failed(expectRank(op, "q", op.getQ(), 3)) || failed(expectRank(op, "v", op.getV(), 3)) ||
      failed(expectTokens(op, "q", op.getQ(), op.getDocs().getType())))
    return llvm::failure();
  int64_t tokens = shapeOf(op.getQ())[0], heads = shapeOf(op.getV())[1];
  mlir::Type element = elementTypeOf(op.getQ()), wide = accumulatorType(element);
  if (failed(expectType(op, "k", op.getK(), op.getQ().getType())) ||
      failed(expectType(op, "v", op.getV(), {tokens, heads, shapeOf(op.getV())[2]}, element)) ||
      failed(expectHeadRatio(op, "v", heads, "q and k", shapeOf(op.getQ())[1])) ||
      failed(expectType(op, "g", op.getG(), {tokens, heads}, wide)) ||
      failed(expectWeight(op, "beta", op.getBeta(), {tokens, heads}, element)))
    return llvm::failure();
  return expectType(op, "inverse", op.getInverse(), {tokens, heads, qrt::kChunkTokens}, wide);
}

/// q, gate and o [T, H, D], k and v [T, G, D], lse [T, H].
template <typename Op> llvm::LogicalResult verifyAttentionOperands(Op op) {
  for (auto [name, value] : {std::pair("q", op.getQ()), std::pair("k", op.getK())})
    if (failed(expectRank(op, name, value, 3)) || failed(expectTokens(op, name, value, op.getDocs().getType())))
      return llvm::failure();
  llvm::ArrayRef<int64_t> q = shapeOf(op.getQ()), k = shapeOf(op.getK());
  mlir::Type element = elementTypeOf(op.getQ());
  if (failed(expectType(op, "k", op.getK(), {q[0], k[1], q[2]}, element)) ||
      failed(expectType(op, "v", op.getV(), op.getK().getType())) ||
      failed(expectHeadRatio(op, "q", q[1], "k and v", k[1])) ||
      failed(expectType(op, "gate", op.getGate(), op.getQ().getType())) ||
      failed(expectType(op, "lse", op.getLse(), statisticsType(op.getQ()))))
    return llvm::failure();
  return expectType(op, "o", op.getO(), op.getQ().getType());
}

} // namespace qt

#endif // DIALECTS_QT_COMPOUNDOPERANDS_H
