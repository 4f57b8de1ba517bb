// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a call of the kernel `pointwise` computes for each element: a table of operations over values that are numbered
// as they come to be. Every value is f32; what is read is widened, and only what is written is rounded.
#ifndef RUNTIME_KERNELS_EXPRESSION_H
#define RUNTIME_KERNELS_EXPRESSION_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qrt {

enum class ExpressionOp : uint8_t {
#define QRT_EXPRESSION_OP(Name, text, operands, flops) Name,
#include "runtime/kernels/expression.def"
};

struct ExpressionOpInfo {
  std::string_view name;
  int operands;
  double flops;
  /// Whether the step's constant is part of it.
  bool hasConstant;
};

constexpr int kNumExpressionOps = 0
#define QRT_EXPRESSION_OP(Name, text, operands, flops) +1
#include "runtime/kernels/expression.def"
    ;

const ExpressionOpInfo &expressionOpInfo(ExpressionOp op);
std::optional<ExpressionOp> expressionOpByName(std::string_view name);

/// An expression has at most so many values of each kind: all of them fit a thread's registers on a GPU, and a tile of
/// each the second-level cache of a processor.
constexpr int kMaxExpressionInputs = 16, kMaxExpressionSteps = 64, kMaxExpressionResults = 4;

struct ExpressionStep {
  ExpressionOp op;
  /// Numbers of values that come before; b is 0 where the operation has one operand.
  uint16_t a = 0, b = 0;
  /// Of `scale`; else 0.
  double constant = 0;

  bool operator==(const ExpressionStep &) const = default;
};

/// With n inputs, value i < n is an element of input i and value n + i the outcome of step i.
struct Expression {
  std::vector<ExpressionStep> steps;
  /// The values that are written, in the order of the kernel's results.
  std::vector<uint16_t> results;

  bool operator==(const Expression &) const = default;
};

/// Whether an expression of `inputs` inputs has values and operations that exist, none before it is computed, finite
/// constants, `results` results, and no more of anything than there may be. InvalidData saying what was expected and
/// what came.
Status checkExpression(const Expression &expression, int64_t inputs, int64_t results);

/// Floating-point operations for one element.
double expressionFlops(const Expression &expression);

/// "2: silu(0)", "3: scale(2, 0.5)": step `index` of an expression of `inputs` inputs.
std::string printStep(const Expression &expression, size_t index, int64_t inputs);

} // namespace qrt

#endif // RUNTIME_KERNELS_EXPRESSION_H
