// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/qt/Qt.h"
using namespace mlir;
namespace qt {
LogicalResult AdamWOp::verify() { return success(); }
SmallVector<Value> AddOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult AddOp::verify() { return success(); }
LogicalResult AddRmsNormGradOp::verify() { return success(); }
SmallVector<Value> AddRmsNormOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
SmallVector<Type> AddRmsNormOp::getResidualTypes() { return {}; }
LogicalResult AddRmsNormOp::verify() { return success(); }
LogicalResult AttentionGradOp::verify() { return success(); }
SmallVector<Value> AttentionOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
SmallVector<Type> AttentionOp::getResidualTypes() { return {}; }
LogicalResult AttentionOp::verify() { return success(); }
SmallVector<Value> BroadcastOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult BroadcastOp::verify() { return success(); }
SmallVector<Value> CastOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult CastOp::verify() { return success(); }
SmallVector<Value> CausalConvOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult CausalConvOp::verify() { return success(); }
SmallVector<Value> CausalMaskOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult CausalMaskOp::verify() { return success(); }
SmallVector<Value> ContractOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult ContractOp::verify() { return success(); }
LogicalResult CrossEntropyOp::verify() { return success(); }
LogicalResult EmbeddingGradOp::verify() { return success(); }
LogicalResult EmbeddingOp::verify() { return success(); }
SmallVector<Value> ExpOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult GatedDeltaInputsGradOp::verify() { return success(); }
SmallVector<Value> GatedDeltaInputsOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult GatedDeltaInputsOp::verify() { return success(); }
LogicalResult GatedDeltaRuleGradOp::verify() { return success(); }
SmallVector<Value> GatedDeltaRuleOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
SmallVector<Type> GatedDeltaRuleOp::getResidualTypes() { return {}; }
LogicalResult GatedDeltaRuleOp::verify() { return success(); }
LogicalResult GatedRmsNormGradOp::verify() { return success(); }
SmallVector<Value> GatedRmsNormOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
SmallVector<Type> GatedRmsNormOp::getResidualTypes() { return {}; }
LogicalResult GatedRmsNormOp::verify() { return success(); }
SmallVector<Value> GatherRowsOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult GatherRowsOp::verify() { return success(); }
SmallVector<Value> JoinOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult JoinOp::verify() { return success(); }
SmallVector<Value> L2NormOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult L2NormOp::verify() { return success(); }
LogicalResult LinearCrossEntropyGradOp::verify() { return success(); }
SmallVector<Value> LinearCrossEntropyOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult LinearCrossEntropyOp::verify() { return success(); }
double LinearInputGradOp::getFlops() { return 0; }
LogicalResult LinearInputGradOp::verify() { return success(); }
SmallVector<Value> LinearOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
double LinearOp::getFlops() { return 0; }
LogicalResult LinearOp::verify() { return success(); }
double LinearWeightGradOp::getFlops() { return 0; }
LogicalResult LinearWeightGradOp::verify() { return success(); }
SmallVector<Value> MulOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult MulOp::verify() { return success(); }
SmallVector<Value> NegOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult OptimizerStepOp::verify() { return success(); }
LogicalResult ParameterOp::verify() { return success(); }
LogicalResult ParameterPackOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
SmallVector<Value> PlainRmsNormOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult PlainRmsNormOp::verify() { return success(); }
LogicalResult QkNormRopeGradOp::verify() { return success(); }
SmallVector<Value> QkNormRopeOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
SmallVector<Type> QkNormRopeOp::getResidualTypes() { return {}; }
LogicalResult QkNormRopeOp::verify() { return success(); }
LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
SmallVector<Value> ReduceSumOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult ReduceSumOp::verify() { return success(); }
SmallVector<Value> ReshapeOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult ReshapeOp::verify() { return success(); }
LogicalResult RmsNormGradOp::verify() { return success(); }
SmallVector<Value> RmsNormOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
SmallVector<Type> RmsNormOp::getResidualTypes() { return {}; }
LogicalResult RmsNormOp::verify() { return success(); }
SmallVector<Value> RopeOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult RopeOp::verify() { return success(); }
SmallVector<Value> ScaleOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult ScanOp::verify() { return success(); }
LogicalResult ScanOp::verifyRegions() { return success(); }
LogicalResult ScatterRowsOp::verify() { return success(); }
SmallVector<Value> SigmoidOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
SmallVector<Value> SiluOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
SmallVector<Value> SoftmaxOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
SmallVector<Value> SoftplusOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
SmallVector<Value> SplitOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult SplitOp::verify() { return success(); }
LogicalResult StateOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
SmallVector<Value> SubOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult SubOp::verify() { return success(); }
LogicalResult SwigluGradOp::verify() { return success(); }
SmallVector<Value> SwigluOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult SwigluOp::verify() { return success(); }
SmallVector<Value> TransposeOp::buildAdjoint(OpBuilder &, ValueRange) { return {}; }
LogicalResult TransposeOp::verify() { return success(); }
LogicalResult UpdateOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
} // namespace qt
