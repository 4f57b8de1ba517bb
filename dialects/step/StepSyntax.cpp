// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/step/StepSyntax.h"

using namespace mlir;

namespace step {

//===----------------------------------------------------------------------===//
// Custom directives
//===----------------------------------------------------------------------===//

template <typename AttrT, typename Symbolize>
static ParseResult parseKeyword(OpAsmParser &parser, AttrT &attr, Symbolize symbolize, StringRef what) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  auto value = symbolize(keyword);
  if (!value)
    return parser.emitError(loc) << "expected " << what << ", got '" << keyword << "'";
  attr = AttrT::get(parser.getContext(), *value);
  return success();
}

ParseResult parseSpace(OpAsmParser &parser, SpaceAttr &space) {
  return parseKeyword(parser, space, [](StringRef s) { return symbolizeSpace(s); }, "a space");
}
void printSpace(OpAsmPrinter &printer, Operation *, SpaceAttr space) { printer << stringifySpace(space.getValue()); }
ParseResult parseArgumentRole(OpAsmParser &parser, qt::ArgumentRoleAttr &role) {
  return parseKeyword(
      parser, role, [](StringRef s) { return qt::symbolizeArgumentRole(s); }, "the role of an argument");
}
void printArgumentRole(OpAsmPrinter &printer, Operation *, qt::ArgumentRoleAttr role) {
  printer << qt::stringifyArgumentRole(role.getValue());
}
ParseResult parseResultRole(OpAsmParser &parser, qt::ResultRoleAttr &role) {
  return parseKeyword(parser, role, [](StringRef s) { return qt::symbolizeResultRole(s); }, "the role of a result");
}
void printResultRole(OpAsmPrinter &printer, Operation *, qt::ResultRoleAttr role) {
  printer << qt::stringifyResultRole(role.getValue());
}

ParseResult parseKindAndBucket(OpAsmParser &parser, qt::EntryKindAttr &kind, DenseI64ArrayAttr &bucket) {
  if (parseKeyword(parser, kind, [](StringRef s) { return qt::symbolizeEntryKind(s); }, "the kind of an entry"))
    return failure();
  SmallVector<int64_t> extents;
  if (succeeded(parser.parseOptionalKeyword("bucket")) &&
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::LessGreater,
                                     [&] { return parser.parseInteger(extents.emplace_back()); }))
    return failure();
  bucket = DenseI64ArrayAttr::get(parser.getContext(), extents);
  return success();
}
void printKindAndBucket(OpAsmPrinter &printer, Operation *, qt::EntryKindAttr kind, DenseI64ArrayAttr bucket) {
  printer << qt::stringifyEntryKind(kind.getValue());
  if (bucket.empty())
    return;
  printer << " bucket <";
  llvm::interleaveComma(bucket.asArrayRef(), printer);
  printer << ">";
}

ParseResult parseWriteOrInOut(OpAsmParser &parser, UnitAttr &inOut) {
  if (succeeded(parser.parseOptionalKeyword("inout")))
    inOut = UnitAttr::get(parser.getContext());
  else if (parser.parseKeyword("write", " or 'inout'"))
    return failure();
  return success();
}
void printWriteOrInOut(OpAsmPrinter &printer, Operation *, UnitAttr inOut) { printer << (inOut ? "inout" : "write"); }

//===----------------------------------------------------------------------===//
// step.launch kernel(effect %argument, none, ...) params(name = value, ..., [more])
//     expression [number: operation(operand, operand), ...] results [number, ...] workspace %w : types
//===----------------------------------------------------------------------===//

static ParseResult parseParams(OpAsmParser &parser, const qrt::KernelInfo &info, SmallVectorImpl<int64_t> &params) {
  if (failed(parser.parseOptionalKeyword("params")))
    return success();
  size_t position = 0;
  auto parseParam = [&]() -> ParseResult {
    if (position == info.params.size() && info.hasParamList)
      return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                            [&] { return parser.parseInteger(params.emplace_back()); });
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    if (position == info.params.size())
      return parser.emitError(loc) << "kernel " << StringRef(info.name) << " has " << info.params.size()
                                   << " parameters, got another, '" << keyword << "'";
    const qrt::ParamInfo &param = info.params[position++];
    if (keyword != StringRef(param.name))
      return parser.emitError(loc) << "expected the parameter '" << StringRef(param.name) << "' of kernel "
                                   << StringRef(info.name) << ", got '" << keyword << "'";
    if (parser.parseEqual())
      return failure();
    if (param.type == qrt::ParamType::Int)
      return parser.parseInteger(params.emplace_back());
    APFloat value(0.0);
    if (parser.parseFloat(APFloat::IEEEdouble(), value))
      return failure();
    params.push_back(value.bitcastToAPInt().getSExtValue());
    return success();
  };
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseParam);
}

/// A number of a value of an expression.
static ParseResult parseNumber(OpAsmParser &parser, uint16_t &number) { return parser.parseInteger(number); }

/// The values of an expression are numbered from its inputs on, which follow the results among a call's arguments.
static int64_t firstStepNumber(size_t arguments) {
  return static_cast<int64_t>(arguments) - qrt::kMaxExpressionResults;
}

/// One step, whose value has the number `expected`, if that is known.
static ParseResult parseStep(OpAsmParser &parser, std::optional<int64_t> expected, qrt::ExpressionStep &step) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t number;
  StringRef name;
  if (parser.parseInteger(number) || parser.parseColon())
    return failure();
  if (expected && number != *expected)
    return parser.emitError(loc) << "expected value " << *expected << ", got " << number;
  loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name) || parser.parseLParen() || parseNumber(parser, step.a))
    return failure();
  std::optional<qrt::ExpressionOp> op = qrt::expressionOpByName({name.data(), name.size()});
  if (!op)
    return parser.emitError(loc) << "expected an operation of an expression, got '" << name << "'";
  step.op = *op;
  const qrt::ExpressionOpInfo &info = qrt::expressionOpInfo(*op);
  if (info.operands == 2 && (parser.parseComma() || parseNumber(parser, step.b)))
    return failure();
  if (info.hasConstant) {
    APFloat constant(0.0);
    if (parser.parseComma() || parser.parseFloat(APFloat::IEEEdouble(), constant))
      return failure();
    step.constant = constant.convertToDouble();
  }
  return parser.parseRParen();
}

/// The expression of a call with so many arguments. Numbers are not judged where the call may have no expression or
/// lacks arguments: the verifier says what is wrong there.
static ParseResult parseExpression(OpAsmParser &parser, qrt::Kernel kernel, size_t arguments,
                                   qrt::Expression &expression) {
  if (failed(parser.parseOptionalKeyword("expression")))
    return success();
  int64_t first = firstStepNumber(arguments);
  bool isNumbered = kernel == qrt::Kernel::Pointwise && first >= 0;
  auto parseNextStep = [&] {
    int64_t expected = first + static_cast<int64_t>(expression.steps.size());
    return parseStep(parser, isNumbered ? std::optional(expected) : std::nullopt, expression.steps.emplace_back());
  };
  return failure(parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseNextStep) ||
                 parser.parseKeyword("results") || parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&] {
                   return parseNumber(parser, expression.results.emplace_back());
                 }));
}

static void printExpression(OpAsmPrinter &printer, const qrt::Expression &expression, int64_t number) {
  printer << " expression [";
  llvm::interleaveComma(expression.steps, printer, [&](const qrt::ExpressionStep &step) {
    const qrt::ExpressionOpInfo &info = qrt::expressionOpInfo(step.op);
    printer << number++ << ": " << StringRef(info.name) << "(" << step.a;
    if (info.operands == 2)
      printer << ", " << step.b;
    if (info.hasConstant) {
      printer << ", ";
      printer.printFloat(APFloat(step.constant));
    }
    printer << ")";
  });
  printer << "] results [";
  llvm::interleaveComma(expression.results, printer);
  printer << "]";
}

ParseResult LaunchOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<qrt::Kernel> kernel = qrt::kernelByName({name.data(), name.size()});
  if (!kernel)
    return parser.emitError(loc) << "expected the name of a kernel, got '" << name << "'";

  SmallVector<OpAsmParser::UnresolvedOperand> arguments;
  SmallVector<int32_t> effects;
  auto parseArgument = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<Effect> effect = symbolizeEffect(keyword);
    if (!effect)
      return parser.emitError(loc) << "expected read, write, inout or none, got '" << keyword << "'";
    effects.push_back(static_cast<int32_t>(*effect));
    return *effect == Effect::Absent ? ParseResult::success() : parser.parseOperand(arguments.emplace_back());
  };
  SmallVector<int64_t> params;
  qrt::Expression expression;
  SmallVector<Type> types;
  SMLoc argumentsLoc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseArgument) ||
      parseParams(parser, qrt::kernelInfo(*kernel), params) ||
      parseExpression(parser, *kernel, effects.size(), expression))
    return failure();
  size_t present = arguments.size();
  if (succeeded(parser.parseOptionalKeyword("workspace")) && parser.parseOperand(arguments.emplace_back()))
    return failure();
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseOptionalColonTypeList(types) ||
      parser.resolveOperands(arguments, types, argumentsLoc, result.operands))
    return failure();
  Properties &properties = result.getOrAddProperties<Properties>();
  properties.kernel = *kernel;
  properties.operandSegmentSizes = {static_cast<int32_t>(present), static_cast<int32_t>(arguments.size() - present)};
  properties.argument_effects = parser.getBuilder().getDenseI32ArrayAttr(effects);
  properties.params = parser.getBuilder().getDenseI64ArrayAttr(params);
  properties.expression = std::move(expression);
  return success();
}

void LaunchOp::print(OpAsmPrinter &printer) {
  const qrt::KernelInfo &info = qrt::kernelInfo(getKernel());
  printer << " " << StringRef(info.name) << "(";
  auto argument = getArguments().begin();
  llvm::interleaveComma(getArgumentEffects(), printer, [&](int32_t value) {
    auto effect = static_cast<Effect>(value);
    printer << stringifyEffect(effect);
    if (effect != Effect::Absent)
      printer << " " << *argument++;
  });
  printer << ")";
  ArrayRef<int64_t> params = getParams();
  if (!params.empty()) {
    printer << " params(";
    size_t named = std::min(info.params.size(), params.size());
    for (size_t i = 0; i < named; ++i) {
      printer << (i ? ", " : "") << StringRef(info.params[i].name) << " = ";
      if (info.params[i].type == qrt::ParamType::Int)
        printer << params[i];
      else
        printer.printFloat(APFloat(llvm::bit_cast<double>(params[i])));
    }
    if (info.hasParamList) {
      printer << ", [";
      llvm::interleaveComma(params.drop_front(named), printer);
      printer << "]";
    }
    printer << ")";
  }
  if (const qrt::Expression *expression = getExpressionOrNull())
    printExpression(printer, *expression, firstStepNumber(getArgumentEffects().size()));
  if (Value workspace = getWorkspace())
    printer << " workspace " << workspace;
  printer.printOptionalAttrDict((*this)->getDiscardableAttrDictionary().getValue());
  if (getNumOperands() > 0) {
    printer << " : ";
    llvm::interleaveComma(getOperandTypes(), printer);
  }
}

//===----------------------------------------------------------------------===//
// Names of values in dumps
//===----------------------------------------------------------------------===//

void StateOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getMemory(), getSymbol()); }
void ArgumentOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getMemory(), qt::stringifyArgumentRole(getRole()));
}
void ResultOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getMemory(), qt::stringifyResultRole(getRole()));
}
void TransientOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getMemory(), "t"); }
void SliceOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getView(), "v"); }

} // namespace step
