// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions, single ops and regions; what is refused; random inputs.
#include "tests/unit/qt/ReferenceHarness.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

using namespace qt::reference;

namespace {

using Numbers = std::vector<double>;

TEST(ReferenceEvaluator, EveryOpHasAReference) {
  mlir::MLIRContext context;
  context.loadDialect<qt::QtDialect, mlir::func::FuncDialect>();
  for (mlir::RegisteredOperationName name : context.getRegisteredOperationsByDialect("qt")) {
    // Declarations and the end of a region are not evaluated.
    bool evaluated = name.getTypeID() != mlir::TypeID::get<qt::ParameterOp>() &&
                     name.getTypeID() != mlir::TypeID::get<qt::ParameterPackOp>() &&
                     name.getTypeID() != mlir::TypeID::get<qt::StateOp>() &&
                     name.getTypeID() != mlir::TypeID::get<qt::YieldOp>();
    EXPECT_EQ(hasReference(name), evaluated) << name.getStringRef().str();
  }
}

TEST(ReferenceEvaluator, AnOpWithoutReferenceIsNamed) {
  std::string message = evaluationError(R"(
func.func private @other()
func.func @f() {
  func.call @other() : () -> ()
  return
})",
                                        {});
  EXPECT_NE(message.find("'func.call' op has no reference"), std::string::npos) << message;
}

TEST(ReferenceEvaluator, ArgumentsMustFitTheirTypes) {
  std::string text = R"(
func.func @f(%d: !qt.segments<8, 2, 5, 4>, %x: tensor<8xf32>, %y: tensor<?xi32>) {
  return
})";
  Segments docs = Segments::ofLengths({5, 2}, 1);
  Tensor<double> x({8}, 0.0);
  IntTensor y({8}, 0);
  ParsedModule module(text);
  module.run(Inputs<double>{{docs, x, y}, {}});
  auto message = [&](std::vector<Datum<double>> arguments) {
    return evaluationError(text, {std::move(arguments), {}});
  };
  EXPECT_NE(message({docs, x}).find("expected 3 arguments, got 2"), std::string::npos);
  EXPECT_NE(message({docs, x, x}).find("argument 2: expected 'tensor<?xi32>', got a tensor of numbers"),
            std::string::npos);
  EXPECT_NE(message({docs, Tensor<double>({7}, 0.0), y})
                .find("argument 1: expected 'tensor<8xf32>', got a tensor of shape 7"),
            std::string::npos);
  EXPECT_NE(message({docs, x, IntTensor({7}, 0)})
                .find("argument 2: expected 'tensor<?xi32>' of 8 rows, got a tensor of shape 7"),
            std::string::npos);
  EXPECT_NE(message({Segments::ofLengths({6}, 2), x, y}).find("the longest of 6"), std::string::npos);
  docs.offsets = {0, 5, 4};
  EXPECT_NE(message({docs, x, y}).find("expected offsets that ascend"), std::string::npos);
}

TEST(ReferenceEvaluator, DynamicExtentsMustAgree) {
  std::string message = evaluationError(R"(
func.func @f(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %z = qt.add %x, %y : tensor<?x2xf32>, tensor<?x2xf32>
  return %z : tensor<?x2xf32>
})",
                                        {{Tensor<double>({3, 2}, 0.0), Tensor<double>({2, 2}, 0.0)}, {}});
  EXPECT_NE(message.find("operand 1: expected 'tensor<?x2xf32>' of 3 rows, got a tensor of shape 2, 2"),
            std::string::npos)
      << message;
}

TEST(ReferenceEvaluator, WatchedValuesByName) {
  ParsedModule module(R"(
qt.parameter @a : tensor<1x2xf32> init <zeros> names ["a"]
qt.parameter @b : tensor<2x2xf32> init <zeros> names ["b"]
qt.parameter @c : tensor<2xf32> init <zeros> names ["c"]
qt.parameter_pack @ab [@a, @b] : tensor<3x2xf32>
func.func @f(%x: tensor<3x2xf32>, %y: tensor<2xf32>) {
  qt.watch %x as "hidden.0" : tensor<3x2xf32>
  qt.watch gradient %x as "ab" : tensor<3x2xf32>
  qt.watch gradient %y as "c" : tensor<2xf32>
  return
})");
  Tensor<double> x({3, 2}, Numbers{1, 2, 3, 4, 5, 6}), y({2}, Numbers{7, 8});
  Outputs<double> outputs = module.run(Inputs<double>{{x, y}, {}});
  ASSERT_EQ(outputs.hidden.size(), 1u);
  EXPECT_TRUE(agree(outputs.hidden.at("hidden.0"), x));
  ASSERT_EQ(outputs.gradients.size(), 3u);
  EXPECT_TRUE(agree(outputs.gradients.at("a"), Tensor<double>({1, 2}, Numbers{1, 2})));
  EXPECT_TRUE(agree(outputs.gradients.at("b"), Tensor<double>({2, 2}, Numbers{3, 4, 5, 6})));
  EXPECT_TRUE(agree(outputs.gradients.at("c"), y));
}

const std::string kSlice = R"(
func.func @f(%d: !qt.segments, %x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %e = qt.exp %x : tensor<?x2xf32>
  %s = qt.scan %d, %e state tensor<2xf32> : !qt.segments, tensor<?x2xf32> -> tensor<?x2xf32> {
  ^bb0(%state: tensor<2xf32>, %row: tensor<2xf32>):
    %next = qt.add %state, %row : tensor<2xf32>, tensor<2xf32>
    %out = qt.neg %next : tensor<2xf32>
    qt.yield %next, %out : tensor<2xf32>, tensor<2xf32>
  }
  return %s : tensor<?x2xf32>
})";

TEST(ReferenceEvaluator, OneOpOneValueOneRegion) {
  ParsedModule module(kSlice);
  auto function = *module.get().getOps<mlir::func::FuncOp>().begin();
  auto scan = *function.getOps<qt::ScanOp>().begin();
  Segments docs = Segments::ofLengths({2});
  Tensor<double> rows({2, 2}, Numbers{1, 2, 3, 4}), sums({2, 2}, Numbers{-1, -2, -4, -6});

  ValueMap<double> values{{function.getArgument(0), docs}, {scan.getRows()[0], rows}};
  ASSERT_TRUE(mlir::succeeded(evaluateOp<double>(scan, values)));
  EXPECT_TRUE(agree(tensorOf(values.at(scan.getResult(0))), sums));

  // A value, from what is given on: from the rows, or from the argument behind them.
  values = {{function.getArgument(0), docs}, {scan.getRows()[0], rows}};
  auto fromRows = evaluateValue(scan.getResult(0), values);
  ASSERT_TRUE(mlir::succeeded(fromRows)) << module.diagnostics();
  EXPECT_TRUE(agree(tensorOf(*fromRows), sums));
  Tensor<double> logs = rows;
  for (double &element : logs.elements())
    element = std::log(element);
  values = {{function.getArgument(0), docs}, {function.getArgument(1), logs}};
  auto fromArguments = evaluateValue(scan.getResult(0), values);
  ASSERT_TRUE(mlir::succeeded(fromArguments)) << module.diagnostics();
  EXPECT_TRUE(agree(tensorOf(*fromArguments), sums));

  // The body alone: next state and output.
  mlir::Block &body = scan.getBody().front();
  values = {{body.getArgument(0), Tensor<double>({2}, Numbers{10, 20})},
            {body.getArgument(1), Tensor<double>({2}, Numbers{1, 2})}};
  auto yielded = evaluateBlock(body, values);
  ASSERT_TRUE(mlir::succeeded(yielded)) << module.diagnostics();
  ASSERT_EQ(yielded->size(), 2u);
  EXPECT_EQ(tensorOf((*yielded)[0]).elements(), (Numbers{11, 22}));
  EXPECT_EQ(tensorOf((*yielded)[1]).elements(), (Numbers{-11, -22}));

  // A detached op.
  mlir::Operation *detached = scan->clone();
  values = {{function.getArgument(0), docs}, {scan.getRows()[0], rows}};
  EXPECT_TRUE(mlir::succeeded(evaluateOp(detached, values)));
  EXPECT_TRUE(agree(tensorOf(values.at(detached->getResult(0))), sums));
  detached->destroy();
}

TEST(ReferenceEvaluator, AMissingOperandIsNamed) {
  ParsedModule module(kSlice);
  auto function = *module.get().getOps<mlir::func::FuncOp>().begin();
  auto scan = *function.getOps<qt::ScanOp>().begin();
  ValueMap<double> values{{function.getArgument(0), Segments::ofLengths({2})}};
  EXPECT_TRUE(mlir::failed(evaluateOp<double>(scan, values)));
  EXPECT_NE(module.diagnostics().find("operand 1: no value was given for it"), std::string::npos)
      << module.diagnostics();
}

TEST(ReferenceEvaluator, ScanSeesValuesAroundIt) {
  std::string text = R"(
func.func @f(%d: !qt.segments, %x: tensor<?x2xf32>, %c: tensor<2xf32>) -> tensor<?x2xf32> {
  %s = qt.scan %d, %x state tensor<2xf32> : !qt.segments, tensor<?x2xf32> -> tensor<?x2xf32> {
  ^bb0(%state: tensor<2xf32>, %row: tensor<2xf32>):
    %out = qt.mul %row, %c : tensor<2xf32>, tensor<2xf32>
    qt.yield %state, %out : tensor<2xf32>, tensor<2xf32>
  }
  return %s : tensor<?x2xf32>
})";
  auto results = evaluateText(text, {Segments::ofLengths({2}), Tensor<double>({2, 2}, Numbers{1, 2, 3, 4}),
                                     Tensor<double>({2}, Numbers{10, 100})});
  EXPECT_EQ(tensorOf(results.at(0)).elements(), (Numbers{10, 200, 30, 400}));
}

/// A model of one linear layer in the roles of an entry function.
const std::string kModel = R"(
module attributes {qt.vocabulary = 13 : i64} {
  qt.parameter @embed : tensor<13x4xf32> init <normal, 0.0, 0.02> names ["embed"]
  qt.parameter @norm : tensor<4xf32> init <zeros> names ["norm"]
  qt.parameter @a_log : tensor<4xf32> frozen init <log_uniform, 0.01, 16.0> names ["a_log"]
  func.func @f(%ids: tensor<$Txi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<$Txi32> {qt.argument = #qt.argument<labels>},
               %order: tensor<$Txi32> {qt.argument = #qt.argument<embedding_order>}, %d: $SEGMENTS {qt.argument = #qt.argument<segments>})
      -> (tensor<f32> {qt.result = #qt.result<loss>}) {
    %w = qt.read @embed : tensor<13x4xf32>
    %n = qt.read @norm : tensor<4xf32>
    %a = qt.read @a_log : tensor<4xf32>
    %x = qt.embedding %d, %ids, %w : ($SEGMENTS, tensor<$Txi32>, tensor<13x4xf32>) -> tensor<$Tx4xf32>
    %y = qt.add %x, %a : tensor<$Tx4xf32>, tensor<4xf32>
    %f = qt.rms_norm %y, %n eps 1.0e-6 : (tensor<$Tx4xf32>, tensor<4xf32>) -> tensor<$Tx4xf32>
    %rows = qt.gather_rows %d, %f : ($SEGMENTS, tensor<$Tx4xf32>) -> tensor<$Rx4xf32>
    %targets = qt.gather_rows %d, %labels : ($SEGMENTS, tensor<$Txi32>) -> tensor<$Rxi32>
    %loss = qt.linear_cross_entropy %rows, %w, %targets : (tensor<$Rx4xf32>, tensor<13x4xf32>, tensor<$Rxi32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
})";

TEST(ReferenceEvaluator, ABucketHoldsTheSameRandomRow) {
  ParsedModule dynamic(with(kModel, {{"T", "?"}, {"R", "?"}, {"SEGMENTS", "!qt.segments"}}));
  ParsedModule bucket(with(kModel, {{"T", "64"}, {"R", "32"}, {"SEGMENTS", "!qt.segments<64, 4, 20, 32>"}}));
  RowSpec row{.lengths = {20, 0, 7}, .tail = 3};
  auto loss = [&](ParsedModule &module, uint64_t seed) {
    auto inputs = randomInputs(module.get(), "f", row, seed);
    EXPECT_TRUE(mlir::succeeded(inputs)) << module.diagnostics();
    return tensorOf(module.run(*inputs).results.at(0))[0];
  };
  EXPECT_EQ(loss(dynamic, 1), loss(bucket, 1));
  EXPECT_NE(loss(dynamic, 1), loss(dynamic, 2));
}

TEST(ReferenceEvaluator, DirectionalDerivativeOfAFunction) {
  ParsedModule module(with(kModel, {{"T", "?"}, {"R", "?"}, {"SEGMENTS", "!qt.segments"}}));
  auto inputs = randomInputs(module.get(), "f", {.lengths = {5, 6}, .tail = 1}, 1);
  ASSERT_TRUE(mlir::succeeded(inputs)) << module.diagnostics();
  TensorMap direction = randomDirection(module.get(), 7);
  EXPECT_EQ(direction.size(), 2u) << "a frozen parameter does not move";
  Dual loss = std::get<Tensor<Dual>>(module.run(along(*inputs, direction)).results.at(0))[0];
  // Central differences agree to their own error.
  auto moved = [&](double step) {
    Inputs<double> shifted = *inputs;
    for (auto &[name, tensor] : direction)
      for (int64_t i = 0; i < tensor.size(); ++i)
        std::get<Tensor<double>>(shifted.symbols.at(name))[i] += step * tensor[i];
    return tensorOf(module.run(shifted).results.at(0))[0];
  };
  EXPECT_EQ(loss.value, moved(0));
  EXPECT_LT(relativeDifference((moved(1e-5) - moved(-1e-5)) / 2e-5, loss.derivative), 1e-8);
}

TEST(ReferenceEvaluator, RelativeDifference) {
  Tensor<double> x({2}, Numbers{3, 4}), y({2}, Numbers{3, 4.5}), zero({2}, 0.0);
  EXPECT_DOUBLE_EQ(relativeDifference(y, x), 0.1);
  EXPECT_EQ(relativeDifference(zero, zero), 0);
  EXPECT_TRUE(std::isinf(relativeDifference(x, zero)));
  EXPECT_TRUE(std::isinf(relativeDifference(x, Tensor<double>({1}, 3.0))));
  EXPECT_TRUE(std::isinf(relativeDifference(Tensor<double>({2}, std::nan("")), x)));
}

} // namespace
