// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cross_entropy(linear(x)) -> qt.linear_cross_entropy of the trained rows: only these go through the head
// (qt.gather_rows of x and of the labels).
#include "compiler/Passes.h"
#include "compiler/form/Compound.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_FORMLINEARCROSSENTROPY
#include "compiler/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kName = "qt.linear_cross_entropy";

/// The documents of the function around `op`: its one argument of that type.
Value documentsOf(Operation *op, Why &why) {
  auto func = op->getParentOfType<FunctionOpInterface>();
  SmallVector<Value> documents;
  for (Value argument : func.getArguments())
    if (isa<qt::SegmentsType>(argument.getType()))
      documents.push_back(argument);
  if (documents.size() == 1)
    return documents.front();
  why = "expected one !qt.segments argument of the function; got " + std::to_string(documents.size());
  return {};
}

LogicalResult form(qt::CrossEntropyOp loss, Why &why) {
  auto linear = producerOf<qt::LinearOp>(loss.getLogits());
  if (!linear) {
    why = "expected the logits of a qt.linear; got " + describe(withoutCasts(loss.getLogits()));
    return failure();
  }
  if (readersOf(linear.getY()).size() != 1) {
    why = "expected the loss alone to read the logits; got other readers";
    return failure();
  }
  Value docs = documentsOf(loss, why);
  if (!docs)
    return failure();
  FailureOr<OpBuilder> builder = placeFor({linear.getX(), linear.getWeight(), loss.getLabels()}, {loss.getLoss()}, why);
  if (failed(builder))
    return failure();
  int64_t trained = cast<qt::SegmentsType>(docs.getType()).getTrained();
  auto gathered = [&](Value rows) -> Value {
    SmallVector<int64_t> shape(qt::tensorType(rows).getShape());
    shape[0] = trained;
    auto gather = qt::GatherRowsOp::create(*builder, loss.getLoc(), qt::tensorType(rows).clone(shape), docs, rows);
    setScope(gather, scopeOf(linear));
    reportAdded(gather, "only trained rows go through the head");
    return gather.getOut();
  };
  Value x = gathered(linear.getX()), labels = gathered(loss.getLabels());
  auto compound = qt::LinearCrossEntropyOp::create(*builder, loss.getLoc(), loss.getLoss().getType(),
                                                   /*row_loss=*/Type(), x, linear.getWeight(), labels);
  setScope(compound, scopeOf(linear));
  loss.getLoss().replaceAllUsesWith(compound.getLoss());
  reportFormed(compound, {loss.getLoss()});
  return success();
}

struct FormLinearCrossEntropy : impl::FormLinearCrossEntropyBase<FormLinearCrossEntropy> {
  void runOnOperation() override {
    formAtEach<qt::CrossEntropyOp>(getOperation(), kName, [](qt::CrossEntropyOp) { return true; }, form);
  }
};

} // namespace
} // namespace qcc
