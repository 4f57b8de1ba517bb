// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/qt/reference/Registry.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace qt::reference {

/// The type of a symbol's buffer; null if it has none.
static Type typeOf(Operation *symbol) {
  return TypeSwitch<Operation *, Type>(symbol)
      .Case<ParameterOp, ParameterPackOp, StateOp>([](auto op) { return op.getType(); })
      .Default([](Operation *) { return Type(); });
}

/// The value of a symbol at entry; null with an error at `op` if it has none of its type.
template <typename Scalar>
static const Datum<Scalar> *entryValue(Operation *op, StringRef name, Type type,
                                       const Environment<Scalar> &environment) {
  auto it = environment.symbols.find(name.str());
  if (it == environment.symbols.end()) {
    op->emitOpError() << "no value was given for @" << name;
    return nullptr;
  }
  auto emitError = [&] { return op->emitOpError() << "value of @" << name << ": "; };
  return succeeded(checkFits(it->second, type, std::nullopt, emitError)) ? &it->second : nullptr;
}

struct Member {
  StringRef name;
  RankedTensorType type;
};
/// A pack's members, or failure with an error at `op`.
static FailureOr<SmallVector<Member>> membersOf(Operation *op, ParameterPackOp pack, ModuleOp module) {
  SmallVector<Member> members;
  int64_t rows = 0;
  for (auto reference : pack.getMembers().getAsRange<FlatSymbolRefAttr>()) {
    auto parameter = module.lookupSymbol<ParameterOp>(reference.getAttr());
    if (!parameter)
      return op->emitOpError() << "expected member @" << reference.getValue() << " of @" << pack.getSymName()
                               << " to be a parameter";
    members.push_back({reference.getValue(), cast<RankedTensorType>(parameter.getType())});
    rows += members.back().type.getDimSize(0);
  }
  int64_t declared = cast<RankedTensorType>(pack.getType()).getDimSize(0);
  if (rows != declared)
    return op->emitOpError() << "expected @" << pack.getSymName() << " to have the " << rows
                             << " rows of its members, got " << declared;
  return members;
}

template <typename Scalar> static LogicalResult evaluate(ReadOp op, Frame<Scalar> &frame) {
  Environment<Scalar> *environment = frame.environment();
  if (!environment)
    return op.emitOpError() << "needs a function that it is evaluated in";
  Operation *symbol = environment->module.lookupSymbol(op.getSymbolAttr().getAttr());
  if (!symbol || !typeOf(symbol))
    return op.emitOpError() << "refers to @" << op.getSymbol() << ", which is no parameter, pack or state";
  auto pack = dyn_cast<ParameterPackOp>(symbol);
  if (!pack) {
    const Datum<Scalar> *value = entryValue(op, op.getSymbol(), typeOf(symbol), *environment);
    if (!value)
      return failure();
    frame.set(op.getValue(), *value);
    return success();
  }
  FailureOr<SmallVector<Member>> members = membersOf(op, pack, environment->module);
  if (failed(members))
    return failure();
  Tensor<Scalar> stacked(cast<RankedTensorType>(pack.getType()).getShape());
  Scalar *next = stacked.data();
  for (const Member &member : *members) {
    const Datum<Scalar> *value = entryValue(op, member.name, member.type, *environment);
    if (!value)
      return failure();
    const std::vector<Scalar> &elements = std::get<Tensor<Scalar>>(*value).elements();
    next = std::copy(elements.begin(), elements.end(), next);
  }
  frame.set(op.getValue(), std::move(stacked));
  return success();
}

template <typename Scalar> static LogicalResult evaluate(UpdateOp op, Frame<Scalar> &frame) {
  Environment<Scalar> *environment = frame.environment();
  if (!environment)
    return op.emitOpError() << "needs a function that it is evaluated in";
  auto update = [&](StringRef name, Datum<Scalar> value) -> LogicalResult {
    if (!environment->updates.emplace(name.str(), std::move(value)).second)
      return op.emitOpError() << "updates @" << name << " a second time";
    return success();
  };
  auto pack = environment->module.template lookupSymbol<ParameterPackOp>(op.getSymbolAttr().getAttr());
  if (!pack)
    return update(op.getSymbol(), frame.datum(op.getValue()));
  FailureOr<SmallVector<Member>> members = membersOf(op, pack, environment->module);
  if (failed(members))
    return failure();
  const Scalar *next = frame.tensor(op.getValue()).data();
  for (const Member &member : *members) {
    const Scalar *end = next + member.type.getNumElements();
    if (failed(update(member.name, Tensor<Scalar>(member.type.getShape(), std::vector<Scalar>(next, end)))))
      return failure();
    next = end;
  }
  return success();
}

template <typename Scalar> static Tensor<Scalar> evaluate(GlobalNormOp op, Frame<Scalar> &frame) {
  Scalar sum(0);
  for (Value operand : op.getGradients()) {
    const Tensor<Scalar> &gradient = frame.tensor(operand);
    sum += dot(gradient.data(), gradient.data(), gradient.size());
  }
  return Tensor<Scalar>::scalar(sqrt(sum));
}

template <typename Scalar> static void evaluate(OptimizerStepOp op, Frame<Scalar> &frame) {
  IntTensor counters = frame.integers(op.getCounters());
  ++counters[std::isfinite(valueOf(frame.tensor(op.getNorm())[0])) ? 0 : 1];
  frame.set(op.getUpdated(), std::move(counters));
}

/// AdamW with decoupled decay (Loshchilov and Hutter, 2019); the gradient is scaled to the norm `clip` where it exceeds
/// it.
template <typename Scalar> static LogicalResult evaluate(AdamWOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &gradient = frame.tensor(op.getGradient()), &hyper = frame.tensor(op.getHyper());
  Tensor<Scalar> weight = frame.tensor(op.getWeight()), expAvg = frame.tensor(op.getExpAvg());
  Tensor<Scalar> expAvgSq = frame.tensor(op.getExpAvgSq());
  const Tensor<Scalar> *givenMaster = frame.optional(op.getMaster());
  Tensor<Scalar> master = givenMaster ? *givenMaster : weight;
  Scalar norm = frame.tensor(op.getNorm())[0];
  int64_t step = frame.integers(op.getCounters())[0];
  if (hyper.size() != sizeof(qrt::Hyperparameters) / sizeof(float))
    return op.emitOpError() << "expected " << sizeof(qrt::Hyperparameters) / sizeof(float) << " hyperparameters, got "
                            << hyper.size();
  // In the order of qrt::Hyperparameters.
  Scalar rate = hyper[0], beta1 = hyper[1], beta2 = hyper[2], eps = hyper[3], decay = hyper[4], clip = hyper[5];
  if (std::isfinite(valueOf(norm))) {
    if (step < 1)
      return op.emitOpError() << "expected counters of a step that was counted, got " << step << " steps";
    Scalar factor = norm > clip ? clip / norm : Scalar(1);
    // 1 - beta^step.
    Scalar correction1(1), correction2(1);
    for (int64_t i = 0; i < step; ++i) {
      correction1 *= beta1;
      correction2 *= beta2;
    }
    correction1 = Scalar(1) - correction1;
    correction2 = Scalar(1) - correction2;
    for (int64_t i = 0; i < weight.size(); ++i) {
      Scalar g = gradient[i] * factor;
      expAvg[i] = beta1 * expAvg[i] + (Scalar(1) - beta1) * g;
      expAvgSq[i] = beta2 * expAvgSq[i] + (Scalar(1) - beta2) * g * g;
      if (op.getDecay())
        master[i] -= rate * decay * master[i];
      master[i] -= rate * (expAvg[i] / correction1) / (sqrt(expAvgSq[i] / correction2) + eps);
      weight[i] = master[i];
    }
  }
  frame.set(op.getNewWeight(), std::move(weight));
  frame.set(op.getNewExpAvg(), std::move(expAvg));
  frame.set(op.getNewExpAvgSq(), std::move(expAvgSq));
  frame.set(op.getNewMaster(), std::move(master));
  return success();
}

template <typename Scalar> void registerStateOps(Registry<Scalar> &registry) {
  registry.template add<
#define GET_OP_LIST
#include "dialects/qt/QtStateOps.cpp.inc"
      >();
}
template void registerStateOps(Registry<double> &registry);
template void registerStateOps(Registry<Dual> &registry);

} // namespace qt::reference
