// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/qt/ReferenceHarness.h"

#include <cmath>
#include <limits>

using namespace qt::reference;

namespace {

using Numbers = std::vector<double>;
using Integers = std::vector<int64_t>;

Tensor<double> numbers(Numbers elements) {
  auto count = static_cast<int64_t>(elements.size());
  return Tensor<double>({count}, std::move(elements));
}

/// Two parameters, a pack of them, and what updates them.
const std::string kSymbols = R"(
qt.parameter @a : tensor<1x2xf32> init <zeros> names ["a"]
qt.parameter @b : tensor<2x2xf32> init <zeros> names ["b"]
qt.parameter_pack @ab [@a, @b] : tensor<3x2xf32>
qt.state @ab.exp_avg exp_avg of @ab : tensor<3x2xf32>
qt.state @counters counters : tensor<2xi64>
)";

SymbolMap<double> symbols() {
  return {{"a", Tensor<double>({1, 2}, Numbers{1, 2})},
          {"b", Tensor<double>({2, 2}, Numbers{3, 4, 5, 6})},
          {"ab.exp_avg", Tensor<double>({3, 2}, 7.0)},
          {"counters", IntTensor({2}, Integers{8, 9})}};
}

TEST(ReferenceStateOps, APackIsAViewOfItsMembers) {
  ParsedModule module(kSymbols + R"(
func.func @f() -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %before = qt.read @ab : tensor<3x2xf32>
  %twice = qt.scale %before by 2.0 : tensor<3x2xf32>
  qt.update @ab, %twice : tensor<3x2xf32>
  %after = qt.read @ab : tensor<3x2xf32>
  return %before, %after : tensor<3x2xf32>, tensor<3x2xf32>
})");
  Outputs<double> outputs = module.run(Inputs<double>{{}, symbols()});
  // Every read sees the value at entry.
  for (const Datum<double> &value : outputs.results)
    EXPECT_EQ(tensorOf(value).elements(), (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(agree(tensorOf(outputs.symbols.at("a")), Tensor<double>({1, 2}, Numbers{2, 4})));
  EXPECT_TRUE(agree(tensorOf(outputs.symbols.at("b")), Tensor<double>({2, 2}, Numbers{6, 8, 10, 12})));
  EXPECT_TRUE(agree(tensorOf(outputs.symbols.at("ab.exp_avg")), Tensor<double>({3, 2}, 7.0)));
  EXPECT_EQ(outputs.symbols.size(), 4u);
}

TEST(ReferenceStateOps, ASymbolIsUpdatedOnce) {
  std::string message = evaluationError(kSymbols + R"(
func.func @f() {
  %pack = qt.read @ab : tensor<3x2xf32>
  %member = qt.read @b : tensor<2x2xf32>
  qt.update @b, %member : tensor<2x2xf32>
  qt.update @ab, %pack : tensor<3x2xf32>
  return
})",
                                        {{}, symbols()});
  EXPECT_NE(message.find("updates @b a second time"), std::string::npos) << message;
}

TEST(ReferenceStateOps, ASymbolNeedsAValueOfItsShape) {
  std::string text = kSymbols + R"(
func.func @f() -> tensor<3x2xf32> {
  %pack = qt.read @ab : tensor<3x2xf32>
  return %pack : tensor<3x2xf32>
})";
  SymbolMap<double> missing = symbols(), wrong = symbols();
  missing.erase("b");
  wrong["b"] = numbers({1, 2, 3, 4});
  std::string message = evaluationError(text, {{}, missing});
  EXPECT_NE(message.find("no value was given for @b"), std::string::npos) << message;
  message = evaluationError(text, {{}, wrong});
  EXPECT_NE(message.find("value of @b: expected 'tensor<2x2xf32>', got a tensor of shape 4"), std::string::npos)
      << message;
}

TEST(ReferenceStateOps, GlobalNorm) {
  auto results = evaluateText(R"(
func.func @f(%a: tensor<2xf32>, %b: tensor<1x1xbf16>) -> tensor<f32> {
  %n = qt.global_norm %a, %b : (tensor<2xf32>, tensor<1x1xbf16>) -> tensor<f32>
  return %n : tensor<f32>
})",
                              {numbers({2, 3}), Tensor<double>({1, 1}, Numbers{6})});
  EXPECT_DOUBLE_EQ(tensorOf(results.at(0))[0], 7);
}

TEST(ReferenceStateOps, OptimizerStepCountsTakenAndSkipped) {
  auto count = [](double norm) {
    auto results = evaluateText(R"(
func.func @f(%n: tensor<f32>, %c: tensor<2xi64>) -> tensor<2xi64> {
  %u = qt.optimizer_step %n, %c : (tensor<f32>, tensor<2xi64>) -> tensor<2xi64>
  return %u : tensor<2xi64>
})",
                                {Tensor<double>::scalar(norm), IntTensor({2}, Integers{3, 5})});
    return std::get<IntTensor>(results.at(0)).elements();
  };
  EXPECT_EQ(count(1), (Integers{4, 5}));
  EXPECT_EQ(count(std::numeric_limits<double>::infinity()), (Integers{3, 6}));
  EXPECT_EQ(count(std::nan("")), (Integers{3, 6}));
}

/// The new weight, moments and master of one element.
Numbers adamw(double norm, int64_t step, double clip, bool decay, bool master) {
  std::string text = with(R"(
func.func @f(%g: tensor<1xf32>, %n: tensor<f32>, %c: tensor<2xi64>, %h: tensor<8xf32>, %s: tensor<i64>, %w: $WEIGHT,
             %m: tensor<1xf32>, %v: tensor<1xf32>, %x: tensor<1xf32>) -> ($TYPES) {
  $RESULTS = qt.adamw %g norm %n counters %c hyper %h seed %s weight %w moments %m, %v $MASTER decay $DECAY members [1, 1]
      : (tensor<1xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, $WEIGHT, tensor<1xf32>, tensor<1xf32>$MORE) -> ($TYPES)
  return $RESULTS : $TYPES
})",
                          // Only a weight of fewer bits has a master.
                          {{"WEIGHT", master ? "tensor<1xbf16>" : "tensor<1xf32>"},
                           {"TYPES", master ? "$WEIGHT, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>"
                                            : "$WEIGHT, tensor<1xf32>, tensor<1xf32>"},
                           {"RESULTS", master ? "%nw, %nm, %nv, %nx" : "%nw, %nm, %nv"},
                           {"MASTER", master ? "master %x" : ""},
                           {"MORE", master ? ", tensor<1xf32>" : ""},
                           {"DECAY", decay ? "true" : "false"}});
  Numbers elements;
  for (const Datum<double> &value :
       evaluateText(text, {numbers({4}), Tensor<double>::scalar(norm), IntTensor({2}, Integers{step, 0}),
                           numbers({0.5, 0.75, 0.5, 0.125, 0.25, clip, 0, 0}), IntTensor::scalar(1), numbers({2}),
                           numbers({8}), numbers({32}), numbers({3})}))
    elements.push_back(tensorOf(value)[0]);
  return elements;
}

TEST(ReferenceStateOps, AdamW) {
  constexpr double none = std::numeric_limits<double>::infinity();
  // Learning rate 1/2, betas 3/4 and 1/2, eps 1/8, decay 1/4; gradient 4, moments 8 and 32, weight 2, master 3. In step
  // 2 the moments become 0.75*8 + 0.25*4 = 7 and 0.5*32 + 0.5*16 = 24, corrected by 1 - 9/16 and 1 - 1/4: 16 and 32.
  double step = 0.5 * 16 / (std::sqrt(32) + 0.125);
  EXPECT_EQ(adamw(4, 2, none, false, false), (Numbers{2 - step, 7, 24}));
  EXPECT_EQ(adamw(4, 2, none, true, false), (Numbers{1.75 - step, 7, 24}));
  // The weight follows its master.
  EXPECT_EQ(adamw(4, 2, none, false, true), (Numbers{3 - step, 7, 24, 3 - step}));
  // A norm of 4 clipped to 1: the gradient is 1.
  step = 0.5 * (6.25 / 0.4375) / (std::sqrt(16.5 / 0.75) + 0.125);
  EXPECT_EQ(adamw(4, 2, 1, false, false), (Numbers{2 - step, 6.25, 16.5}));
  // Below the clip nothing is scaled; a norm that is not finite changes nothing.
  EXPECT_EQ(adamw(0.5, 2, 1, false, false), adamw(0.5, 2, none, false, false));
  EXPECT_EQ(adamw(none, 2, 1, true, true), (Numbers{2, 8, 32, 3}));
  EXPECT_EQ(adamw(std::nan(""), 0, 1, true, true), (Numbers{2, 8, 32, 3}));
}

} // namespace
