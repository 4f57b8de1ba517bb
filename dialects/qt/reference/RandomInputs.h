// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random inputs of functions, from a seed: the same on every machine, and for the same parameter or document in every
// phase of a module.
#ifndef DIALECTS_QT_REFERENCE_RANDOMINPUTS_H
#define DIALECTS_QT_REFERENCE_RANDOMINPUTS_H

#include "dialects/qt/reference/Evaluator.h"

namespace qt::reference {

/// SplitMix64 (Steele, Lea, Flood 2014) and what is drawn with it.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}
  /// The stream that belongs to a name.
  Random(uint64_t seed, llvm::StringRef name);

  uint64_t next();
  /// In [0, 1).
  double uniform();
  /// Of mean 0 and deviation 1.
  double normal();
  /// In [0, bound).
  int64_t below(int64_t bound);

private:
  uint64_t state_;
};

Tensor<double> randomNormal(llvm::ArrayRef<int64_t> shape, Random &random, double mean = 0, double deviation = 1);

/// A packed row: the lengths of its documents, unused tokens after them, and which part of the labels is trained.
struct RowSpec {
  std::vector<int64_t> lengths;
  /// Where a function's type has a static T, what is left of that instead.
  int64_t tail = 0;
  double trainedPart = 0.7;
};

/// An id for each token; those of the tail are drawn last.
IntTensor randomIds(int64_t tokens, int64_t vocabulary, Random &random);
/// The next token's id as label where there is one in the document and it is drawn as trained; -100 elsewhere.
IntTensor randomLabels(const Segments &docs, const IntTensor &ids, double trainedPart, Random &random);
/// The tokens of documents by (id, position), then -1: an argument of the role `embedding_order`.
IntTensor embeddingOrder(const Segments &docs, const IntTensor &ids);

/// A value for each parameter and state of the module. Parameters are drawn by name: normal ones with a deviation that
/// keeps activations of order 1 (a model's own 0.02 would hide errors), others about their initial value. Masters are
/// their weights, moments, gradients and counters zero.
SymbolMap<double> randomSymbols(mlir::ModuleOp module, uint64_t seed);

/// Arguments by their role, and the symbols. The module says its vocabulary in `qt.vocabulary`. Fails with a diagnostic
/// where an argument has no role.
mlir::FailureOr<Inputs<double>> randomInputs(mlir::ModuleOp module, llvm::StringRef function, const RowSpec &row,
                                             uint64_t seed);

//===----------------------------------------------------------------------===//
// Directional derivatives
//===----------------------------------------------------------------------===//

/// Tensors by parameter: a direction, or a gradient.
using TensorMap = std::map<std::string, Tensor<double>>;

/// A random direction for each parameter of the module that is trained.
TensorMap randomDirection(mlir::ModuleOp module, uint64_t seed);

/// Numbers with their derivatives; without `derivative` constants.
Tensor<Dual> toDual(const Tensor<double> &value, const Tensor<double> *derivative = nullptr);
Datum<Dual> toDual(const Datum<double> &value);
/// The inputs with the symbols of `direction` moving along it.
Inputs<Dual> along(const Inputs<double> &inputs, const TensorMap &direction);

Tensor<double> valuesOf(const Tensor<Dual> &x);
Tensor<double> derivativesOf(const Tensor<Dual> &x);

double innerProduct(const Tensor<double> &a, const Tensor<double> &b);
/// The sum over the names of both.
double innerProduct(const TensorMap &a, const TensorMap &b);

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

double norm(const Tensor<double> &x);
/// Norm of the difference over the norm of `expected`; 0 where both are zero, infinity where shapes differ or a number
/// is not finite.
double relativeDifference(const Tensor<double> &actual, const Tensor<double> &expected);
double relativeDifference(double actual, double expected);

} // namespace qt::reference

#endif // DIALECTS_QT_REFERENCE_RANDOMINPUTS_H
