// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random calls of the kernel `pointwise`, and what they must give: expressions of every operation over inputs of both
// types, some repeated along rows, columns or both, with gaps; a loop in f64 that carries a bound of the rounding
// error.
#ifndef TESTS_UNIT_CPU_EXPRESSIONCASE_H
#define TESTS_UNIT_CPU_EXPRESSIONCASE_H

#include "tests/unit/cpu/KernelHarness.h"

#include <memory>

namespace qrt::cpu::test {

class ExpressionCase {
public:
  /// A call of `results` results of this shape, its expression of `steps` steps over `inputs` inputs, which are still
  /// to be filled. The first input has the whole shape, the others are repeated in all ways.
  ExpressionCase(std::mt19937 &random, const std::vector<int64_t> &dims, int inputs, int steps, int results,
                 int64_t gap = 0) {
    auto below = [&](int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random); };
    auto dtype = [&] { return below(2) ? DType::BF16 : DType::F32; };
    call.kernel = Kernel::Pointwise;
    for (int i = 0; i < kMaxExpressionResults; ++i) {
      if (i < results)
        tensors_.push_back(std::make_unique<HostTensor>(dtype(), dims, gap));
      call.args.push_back(i < results ? tensors_.back().get() : nullptr);
    }
    std::vector<double> bounds; // of the magnitude of each value
    std::uniform_real_distribution<double> uniform(-kLargest, kLargest);
    for (int i = 0; i < inputs; ++i) {
      std::vector<int64_t> its = dims;
      for (size_t axis = 0; i > 0 && axis < its.size(); ++axis)
        if (below(3) == 0)
          its[axis] = 1;
      while (i > 0 && !its.empty() && below(4) == 0)
        its.erase(its.begin());
      inputs_.push_back(std::make_unique<HostTensor>(dtype(), its, below(2) * gap));
      call.args.push_back(inputs_.back().get());
      bounds.push_back(kLargest);
    }
    Expression &expression = call.expression.emplace();
    while (static_cast<int>(expression.steps.size()) < steps) {
      auto values = static_cast<int64_t>(bounds.size());
      ExpressionStep step{static_cast<ExpressionOp>(below(kNumExpressionOps)), static_cast<uint16_t>(below(values))};
      const ExpressionOpInfo &info = expressionOpInfo(step.op);
      if (info.operands == 2)
        step.b = static_cast<uint16_t>(below(values));
      if (info.hasConstant)
        step.constant = uniform(random);
      double a = bounds[step.a], b = bounds[step.b], bound = a;
      if (step.op == ExpressionOp::Add || step.op == ExpressionOp::Sub)
        bound = a + b;
      else if (step.op == ExpressionOp::Mul)
        bound = a * b;
      else if (step.op == ExpressionOp::Scale)
        bound = a * std::abs(step.constant);
      else if (step.op == ExpressionOp::Exp)
        bound = std::exp(a);
      else if (step.op == ExpressionOp::Softplus)
        bound = a + 1;
      if (bound > 1e4)
        continue;
      bounds.push_back(bound);
      expression.steps.push_back(step);
    }
    // The last values, which depend on the most; an input too where there are not so many.
    for (int i = 0; i < results; ++i)
      expression.results.push_back(static_cast<uint16_t>(std::max<int64_t>(0, inputs + steps - 1 - i)));
  }

  /// Random inputs, small enough for no step to overflow.
  void fill(std::mt19937 &random) {
    std::uniform_real_distribution<double> uniform(-kLargest, kLargest);
    for (const std::unique_ptr<HostTensor> &input : inputs_)
      for (int64_t e = 0; e < input->elements(); ++e)
        input->set(e, uniform(random));
  }

  KernelCall call;

  const HostTensor &result(size_t i) const { return *tensors_[i]; }
  size_t results() const { return tensors_.size(); }

  /// The expression in text, for messages.
  std::string text() const {
    std::string text;
    auto inputs = static_cast<int64_t>(inputs_.size());
    for (size_t i = 0; i < call.expression->steps.size(); ++i)
      text += printStep(*call.expression, i, inputs) + "; ";
    return text + fmt::format("results {}", fmt::join(call.expression->results, ", "));
  }

  /// Expects `got`, the results, to be what loops in f64 give, within the rounding of each operation (`units` units in
  /// the last place of an f32), carried through the expression, and of the result's type.
  void expectRight(const std::vector<const HostTensor *> &got, double units) const {
    const Expression &expression = *call.expression;
    const TensorShape &shape = tensors_[0]->shape();
    for (int64_t e = 0; e < shape.elements(); ++e) {
      std::vector<std::pair<double, double>> values; // and the bounds of their errors
      for (const auto &input : inputs_)
        values.push_back({input->get(placeIn(input->shape(), shape, e)), 0});
      for (const ExpressionStep &step : expression.steps)
        values.push_back(evaluate(step, values[step.a], values[step.b], units * 0x1p-24));
      for (size_t i = 0; i < got.size(); ++i) {
        auto [value, bound] = values[expression.results[i]];
        double rounding = std::abs(value) * (got[i]->shape().dtype == DType::BF16 ? 0x1p-8 : 0x1p-24);
        if (std::abs(got[i]->get(e) - value) <= 1.01 * (bound + rounding) + 1e-30)
          continue;
        ADD_FAILURE() << "result " << i << " of " << printed(shape) << ", element " << e << ": expected " << value
                      << " within " << bound + rounding << ", got " << got[i]->get(e) << "\n"
                      << text();
        return;
      }
    }
  }

private:
  static constexpr double kLargest = 3;

  static std::string printed(const TensorShape &shape) {
    return fmt::format("[{}]", fmt::join(shape.dims, shape.dims + shape.rank, ", "));
  }

  /// The element of an input that element `e` of the results reads.
  static int64_t placeIn(const TensorShape &input, const TensorShape &shape, int64_t e) {
    int64_t place = 0, stride = 1;
    for (int axis = shape.rank - 1, its = input.rank - 1; its >= 0; --axis, --its) {
      int64_t index = e % shape.dims[axis];
      e /= shape.dims[axis];
      place += (input.dims[its] == 1 ? 0 : index) * stride;
      stride *= input.dims[its];
    }
    return place;
  }

  static std::pair<double, double> evaluate(const ExpressionStep &step, std::pair<double, double> a,
                                            std::pair<double, double> b, double unit) {
    auto [x, dx] = a;
    auto [z, dz] = b;
    double y = 0, slope = 1;
    switch (step.op) {
    case ExpressionOp::Add:
      return {x + z, dx + dz + std::abs(x + z) * unit};
    case ExpressionOp::Sub:
      return {x - z, dx + dz + std::abs(x - z) * unit};
    case ExpressionOp::Mul:
      return {x * z, std::abs(x) * dz + std::abs(z) * dx + dx * dz + std::abs(x * z) * unit};
    case ExpressionOp::Scale:
      y = x * step.constant;
      slope = std::abs(step.constant);
      break;
    case ExpressionOp::Neg:
      return {-x, dx};
    case ExpressionOp::Exp:
      y = std::exp(x);
      slope = y * std::exp(dx);
      break;
    case ExpressionOp::Sigmoid:
      y = 1 / (1 + std::exp(-x));
      slope = 0.25;
      break;
    case ExpressionOp::Silu:
      y = x / (1 + std::exp(-x));
      slope = 1.1;
      break;
    case ExpressionOp::Softplus:
      y = std::log1p(std::exp(x));
      break;
    }
    // What computes an exponential rounds its argument, too.
    bool exponential = expressionOpInfo(step.op).flops > 1;
    return {y, slope * dx + std::abs(y) * unit * (exponential ? 4 + std::abs(x) : 2)};
  }

  std::vector<std::unique_ptr<HostTensor>> tensors_, inputs_;
};

} // namespace qrt::cpu::test

#endif // TESTS_UNIT_CPU_EXPRESSIONCASE_H
