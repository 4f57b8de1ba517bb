// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/qt/Qt.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/DialectImplementation.h"

#include "dialects/qt/QtDialect.cpp.inc"
#include "dialects/qt/QtEnums.cpp.inc"
#include "dialects/qt/QtInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/qt/QtAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/qt/QtTypes.cpp.inc"

using namespace mlir;

namespace qt {

void QtDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/qt/QtTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/qt/QtAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/qt/QtTensorOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/qt/QtModelOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/qt/QtCompoundOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/qt/QtGradOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/qt/QtStateOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// !qt.segments, !qt.segments<tokens, documents, longest, trained>
//===----------------------------------------------------------------------===//

Type SegmentsType::parse(AsmParser &parser) {
  if (failed(parser.parseOptionalLess()))
    return SegmentsType::get(parser.getContext());
  int64_t extents[4];
  SMLoc loc = parser.getCurrentLocation();
  for (int i = 0; i < 4; ++i)
    if ((i > 0 && parser.parseComma()) || parser.parseInteger(extents[i]))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<SegmentsType>(loc, parser.getContext(), extents[0], extents[1], extents[2], extents[3]);
}

void SegmentsType::print(AsmPrinter &printer) const {
  if (isStatic())
    printer << "<" << getTokens() << ", " << getDocuments() << ", " << getLongest() << ", " << getTrained() << ">";
}

LogicalResult SegmentsType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t tokens, int64_t documents,
                                   int64_t longest, int64_t trained) {
  auto dynamic = [](int64_t extent) { return ShapedType::isDynamic(extent); };
  if (dynamic(tokens) && dynamic(documents) && dynamic(longest) && dynamic(trained))
    return success();
  if (tokens < 1 || documents < 1 || longest < 1 || trained < 1)
    return emitError() << "expected a bucket of positive extents, got <" << tokens << ", " << documents << ", "
                       << longest << ", " << trained << ">";
  if (documents > tokens || longest > tokens || trained > tokens)
    return emitError() << "expected no more documents, longest or trained tokens than tokens (" << tokens << "), got "
                       << documents << ", " << longest << " and " << trained;
  return success();
}

//===----------------------------------------------------------------------===//
// #qt.init<zeros>, #qt.init<normal, mean, deviation>
//===----------------------------------------------------------------------===//

static bool hasNumbers(InitKind kind) { return kind == InitKind::Normal || kind == InitKind::LogUniform; }

Attribute InitAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  std::optional<InitKind> kind = symbolizeInitKind(keyword);
  if (!kind) {
    parser.emitError(loc) << "expected an initial value of kind zeros, ones, normal or log_uniform, got " << keyword;
    return {};
  }
  double a = 0, b = 0;
  if (hasNumbers(*kind) && (parser.parseComma() || parser.parseFloat(a) || parser.parseComma() || parser.parseFloat(b)))
    return {};
  if (parser.parseGreater())
    return {};
  return InitAttr::get(parser.getContext(), *kind, a, b);
}

void InitAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyInitKind(getKind());
  if (hasNumbers(getKind())) {
    printer << ", ";
    printer.printFloat(getA());
    printer << ", ";
    printer.printFloat(getB());
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// #qt.remat<none>, #qt.remat<"memory-bound">, #qt.remat<budget>
//===----------------------------------------------------------------------===//

Attribute RematPolicyAttr::parse(AsmParser &parser, Type) {
  std::string name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeywordOrString(&name))
    return {};
  std::optional<RematPolicy> policy = symbolizeRematPolicy(name);
  if (!policy) {
    parser.emitError(loc) << "expected none, \"memory-bound\" or budget, got " << name;
    return {};
  }
  if (parser.parseGreater())
    return {};
  return RematPolicyAttr::get(parser.getContext(), *policy);
}

void RematPolicyAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printKeywordOrString(stringifyRematPolicy(getValue()));
  printer << ">";
}

} // namespace qt
