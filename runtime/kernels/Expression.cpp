// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/kernels/Expression.h"

#include <cmath>
#include <limits>

namespace qrt {

static constexpr ExpressionOpInfo kInfos[kNumExpressionOps] = {
#define QRT_EXPRESSION_OP(Name, text, operands, flops)                                                                 \
  {#text, operands, flops, ExpressionOp::Name == ExpressionOp::Scale},
#include "runtime/kernels/expression.def"
};

const ExpressionOpInfo &expressionOpInfo(ExpressionOp op) { return kInfos[static_cast<int>(op)]; }

std::optional<ExpressionOp> expressionOpByName(std::string_view name) {
  for (int i = 0; i < kNumExpressionOps; ++i)
    if (kInfos[i].name == name)
      return static_cast<ExpressionOp>(i);
  return std::nullopt;
}

template <typename... Args> static Status fail(fmt::format_string<Args...> format, Args &&...args) {
  return error(StatusCode::InvalidData, format, std::forward<Args>(args)...);
}

Status checkExpression(const Expression &expression, int64_t inputs, int64_t results) {
  if (inputs < 1 || inputs > kMaxExpressionInputs)
    return fail("expression: expected 1 to {} inputs, got {}", kMaxExpressionInputs, inputs);
  if (expression.steps.size() > kMaxExpressionSteps)
    return fail("expression: expected at most {} steps, got {}", kMaxExpressionSteps, expression.steps.size());
  if (results < 1 || results > kMaxExpressionResults)
    return fail("expression: expected 1 to {} results, got {}", kMaxExpressionResults, results);
  if (static_cast<int64_t>(expression.results.size()) != results)
    return fail("expression: expected a value for each of {} results, got {}", results, expression.results.size());
  int64_t values = inputs;
  for (const ExpressionStep &step : expression.steps) {
    if (static_cast<int>(step.op) >= kNumExpressionOps)
      return fail("expression: value {}: unknown operation {}", values, static_cast<int>(step.op));
    const ExpressionOpInfo &info = expressionOpInfo(step.op);
    for (int64_t operand : {step.a, step.b})
      if (operand >= values)
        return fail("expression: value {}: {}: expected operands of the {} values before it, got {}", values, info.name,
                    values, operand);
    if (info.operands == 1 && step.b != 0)
      return fail("expression: value {}: {}: expected one operand, got another, {}", values, info.name, step.b);
    // In f64, for a cast of what f32 does not reach is undefined; false of NaN.
    bool isFinite = std::abs(step.constant) <= std::numeric_limits<float>::max();
    if (!isFinite || (!info.hasConstant && step.constant != 0))
      return fail("expression: value {}: {}: expected {}, got the constant {}", values, info.name,
                  info.hasConstant ? "a constant that is finite in f32" : "no constant", step.constant);
    ++values;
  }
  for (int64_t result : expression.results)
    if (result >= values)
      return fail("expression: expected results of its {} values, got {}", values, result);
  return Status();
}

double expressionFlops(const Expression &expression) {
  double flops = 0;
  for (const ExpressionStep &step : expression.steps)
    flops += expressionOpInfo(step.op).flops;
  return flops;
}

std::string printStep(const Expression &expression, size_t index, int64_t inputs) {
  const ExpressionStep &step = expression.steps[index];
  const ExpressionOpInfo &info = expressionOpInfo(step.op);
  std::string text = fmt::format("{}: {}({}", inputs + static_cast<int64_t>(index), info.name, step.a);
  if (info.operands == 2)
    text += fmt::format(", {}", step.b);
  if (info.hasConstant)
    text += fmt::format(", {}", step.constant);
  return text + ")";
}

} // namespace qrt
