// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/qt/reference/RandomInputs.h"

#include "dialects/qt/Qt.h"

#include "llvm/ADT/STLExtras.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

using namespace mlir;

namespace qt::reference {

Random::Random(uint64_t seed, StringRef name) : state_(seed) {
  for (char c : name)
    state_ = next() ^ static_cast<unsigned char>(c);
}

uint64_t Random::next() {
  uint64_t x = state_ += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double Random::normal() {
  // Box and Muller; 1 - uniform is never zero.
  double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

int64_t Random::below(int64_t bound) { return static_cast<int64_t>(next() % static_cast<uint64_t>(bound)); }

Tensor<double> randomNormal(ArrayRef<int64_t> shape, Random &random, double mean, double deviation) {
  Tensor<double> tensor(shape);
  for (double &element : tensor.elements())
    element = mean + deviation * random.normal();
  return tensor;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

IntTensor randomIds(int64_t tokens, int64_t vocabulary, Random &random) {
  IntTensor ids({tokens});
  for (int64_t &id : ids.elements())
    id = random.below(vocabulary);
  return ids;
}

IntTensor randomLabels(const Segments &docs, const IntTensor &ids, double trainedPart, Random &random) {
  IntTensor labels({docs.tokens}, kIgnoredLabel);
  for (int64_t d = 0; d < docs.documents(); ++d)
    for (int64_t t = docs.begin(d); t + 1 < docs.end(d); ++t)
      if (random.uniform() < trainedPart)
        labels[t] = ids[t + 1];
  return labels;
}

IntTensor embeddingOrder(const Segments &docs, const IntTensor &ids) {
  IntTensor order({docs.tokens}, -1);
  std::iota(order.data(), order.data() + docs.used(), 0);
  std::sort(order.data(), order.data() + docs.used(),
            [&](int64_t a, int64_t b) { return std::pair(ids[a], a) < std::pair(ids[b], b); });
  return order;
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

static Tensor<double> randomParameter(ParameterOp parameter, uint64_t seed) {
  Random random(seed, parameter.getSymName());
  auto type = cast<RankedTensorType>(parameter.getType());
  InitAttr init = parameter.getInit();
  double a = init.getA().convertToDouble(), b = init.getB().convertToDouble();
  switch (init.getKind()) {
  case InitKind::Zeros:
    return randomNormal(type.getShape(), random, 0, 0.1);
  case InitKind::Ones:
    return randomNormal(type.getShape(), random, 1, 0.1);
  case InitKind::Normal:
    return randomNormal(type.getShape(), random, a, 1 / std::sqrt(static_cast<double>(type.getShape().back())));
  case InitKind::LogUniform:
    break;
  }
  Tensor<double> tensor(type.getShape());
  for (double &element : tensor.elements())
    element = std::log(a + (b - a) * random.uniform());
  return tensor;
}

/// The entry value of a weight: of a pack, its members' one behind the other.
static Tensor<double> weightOf(ModuleOp module, StringRef name, const SymbolMap<double> &symbols) {
  auto pack = module.lookupSymbol<ParameterPackOp>(name);
  if (!pack)
    return std::get<Tensor<double>>(symbols.at(name.str()));
  std::vector<double> elements;
  for (auto member : pack.getMembers().getAsRange<FlatSymbolRefAttr>())
    llvm::append_range(elements, std::get<Tensor<double>>(symbols.at(member.getValue().str())).elements());
  return Tensor<double>(cast<RankedTensorType>(pack.getType()).getShape(), std::move(elements));
}

SymbolMap<double> randomSymbols(ModuleOp module, uint64_t seed) {
  SymbolMap<double> symbols;
  for (auto parameter : module.getOps<ParameterOp>())
    symbols[parameter.getSymName().str()] = randomParameter(parameter, seed);
  for (auto state : module.getOps<StateOp>()) {
    auto type = cast<RankedTensorType>(state.getType());
    Datum<double> &value = symbols[state.getSymName().str()];
    if (state.getKind() == StateKind::Counters)
      value = IntTensor(type.getShape());
    else if (state.getKind() == StateKind::Master)
      value = weightOf(module, *state.getParameter(), symbols);
    else
      value = Tensor<double>(type.getShape());
  }
  return symbols;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FailureOr<Inputs<double>> randomInputs(ModuleOp module, StringRef name, const RowSpec &row, uint64_t seed) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function)
    return module.emitError() << "has no function @" << name;
  auto vocabulary = module->getAttrOfType<IntegerAttr>("qt.vocabulary");
  if (!vocabulary)
    return module.emitError() << "expected the attribute qt.vocabulary";

  Segments docs = Segments::ofLengths(row.lengths, row.tail);
  for (Type type : function.getArgumentTypes())
    if (auto segments = dyn_cast<SegmentsType>(type); segments && segments.isStatic())
      docs.tokens = segments.getTokens();
  Random random(seed, "row");
  IntTensor ids = randomIds(docs.used(), vocabulary.getInt(), random);
  IntTensor labels = randomLabels(docs, ids, row.trainedPart, random);
  IntTensor tail = randomIds(std::max<int64_t>(docs.tokens - docs.used(), 0), vocabulary.getInt(), random);
  llvm::append_range(ids.elements(), tail.elements());
  ids = std::move(ids).reshaped(docs.tokens);
  docs = docs.withTrained(labels);

  Inputs<double> inputs;
  for (BlockArgument argument : function.getArguments()) {
    auto role = function.getArgAttrOfType<ArgumentRoleAttr>(argument.getArgNumber(), kArgumentAttr);
    if (!role)
      return function.emitOpError() << "expected argument " << argument.getArgNumber() << " to have the attribute "
                                    << kArgumentAttr;
    switch (role.getValue()) {
    case ArgumentRole::Ids:
      inputs.arguments.push_back(ids);
      break;
    case ArgumentRole::Labels:
      inputs.arguments.push_back(labels);
      break;
    case ArgumentRole::EmbeddingOrder:
      inputs.arguments.push_back(embeddingOrder(docs, ids));
      break;
    case ArgumentRole::Segments:
      inputs.arguments.push_back(docs);
      break;
    case ArgumentRole::InverseTokens:
      inputs.arguments.push_back(Tensor<double>::scalar(1 / static_cast<double>(std::max<int64_t>(docs.trained(), 1))));
      break;
    case ArgumentRole::Hyper:
      // In the order of qrt::Hyperparameters.
      inputs.arguments.push_back(Tensor<double>({8}, std::vector<double>{1e-3, 0.9, 0.95, 1e-8, 0.1, 1, 0, 0}));
      break;
    case ArgumentRole::Seed:
      inputs.arguments.push_back(IntTensor::scalar(static_cast<int64_t>(seed)));
      break;
    }
  }
  inputs.symbols = randomSymbols(module, seed);
  return inputs;
}

//===----------------------------------------------------------------------===//
// Directional derivatives
//===----------------------------------------------------------------------===//

TensorMap randomDirection(ModuleOp module, uint64_t seed) {
  TensorMap direction;
  for (auto parameter : module.getOps<ParameterOp>()) {
    if (parameter.getFrozen())
      continue;
    Random random(seed, parameter.getSymName());
    direction[parameter.getSymName().str()] =
        randomNormal(cast<RankedTensorType>(parameter.getType()).getShape(), random);
  }
  return direction;
}

Tensor<Dual> toDual(const Tensor<double> &value, const Tensor<double> *derivative) {
  Tensor<Dual> dual(value.shape());
  for (int64_t i = 0; i < value.size(); ++i)
    dual[i] = {value[i], derivative ? (*derivative)[i] : 0};
  return dual;
}

Datum<Dual> toDual(const Datum<double> &value) {
  if (auto *tensor = std::get_if<Tensor<double>>(&value))
    return toDual(*tensor);
  if (auto *integers = std::get_if<IntTensor>(&value))
    return *integers;
  return std::get<Segments>(value);
}

Inputs<Dual> along(const Inputs<double> &inputs, const TensorMap &direction) {
  Inputs<Dual> dual;
  for (const Datum<double> &argument : inputs.arguments)
    dual.arguments.push_back(toDual(argument));
  for (auto &[name, value] : inputs.symbols) {
    auto it = direction.find(name);
    dual.symbols[name] = it == direction.end() ? toDual(value) : toDual(std::get<Tensor<double>>(value), &it->second);
  }
  return dual;
}

Tensor<double> valuesOf(const Tensor<Dual> &x) {
  Tensor<double> values(x.shape());
  for (int64_t i = 0; i < x.size(); ++i)
    values[i] = x[i].value;
  return values;
}

Tensor<double> derivativesOf(const Tensor<Dual> &x) {
  Tensor<double> derivatives(x.shape());
  for (int64_t i = 0; i < x.size(); ++i)
    derivatives[i] = x[i].derivative;
  return derivatives;
}

double innerProduct(const Tensor<double> &a, const Tensor<double> &b) {
  assert(a.shape() == b.shape() && "an inner product is of tensors of one shape");
  return std::inner_product(a.data(), a.data() + a.size(), b.data(), 0.0);
}

double innerProduct(const TensorMap &a, const TensorMap &b) {
  double sum = 0;
  for (auto &[name, tensor] : a)
    if (auto it = b.find(name); it != b.end())
      sum += innerProduct(tensor, it->second);
  return sum;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

double norm(const Tensor<double> &x) { return std::sqrt(innerProduct(x, x)); }

double relativeDifference(const Tensor<double> &actual, const Tensor<double> &expected) {
  if (actual.shape() != expected.shape())
    return std::numeric_limits<double>::infinity();
  Tensor<double> difference = actual;
  for (int64_t i = 0; i < difference.size(); ++i)
    difference[i] -= expected[i];
  double error = norm(difference), scale = norm(expected);
  if (!std::isfinite(error) || !std::isfinite(scale))
    return std::numeric_limits<double>::infinity();
  return error == 0 ? 0 : error / scale;
}

double relativeDifference(double actual, double expected) {
  return relativeDifference(Tensor<double>::scalar(actual), Tensor<double>::scalar(expected));
}

} // namespace qt::reference
