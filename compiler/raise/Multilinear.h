// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A normal form for sums of products of tensors: whatever is written with add, sub, mul, neg, scale, broadcast,
// transpose, reduce_sum and contract over some leaves, and with exp of a leaf, becomes one sorted sum of terms. Two
// computations with the same form compute the same numbers, up to rounding, however they are spelled. Casts count as
// identities.
#ifndef COMPILER_RAISE_MULTILINEAR_H
#define COMPILER_RAISE_MULTILINEAR_H

#include "dialects/qt/Qt.h"

#include "llvm/ADT/DenseMap.h"

#include <string>

namespace qcc {

/// A tensor in a product. `indices` has an index for each of its dimensions: i >= 0 is dimension i of the value that is
/// described, ~i is the summed index i of the term.
struct Factor {
  unsigned atom;
  llvm::SmallVector<int, 3> indices;

  bool operator==(const Factor &other) const = default;
};

/// coefficient * the sum over all summed indices of the product of the factors.
struct Term {
  double coefficient = 1;
  llvm::SmallVector<Factor, 4> factors;
  llvm::SmallVector<int64_t, 2> summed; // extents of the summed indices

  /// The same factors, whatever the coefficient.
  bool sameProduct(const Term &other) const { return factors == other.factors && summed == other.summed; }
  /// How often an atom is a factor.
  int count(unsigned atom) const;
};

/// A sum of terms; none: zero.
using Form = llvm::SmallVector<Term, 4>;

/// Whether two normal forms are equal, coefficients up to rounding.
bool sameForm(const Form &a, const Form &b);

class Multilinear {
public:
  /// `leaves` are the values that terms are made of, `names` what messages call them.
  Multilinear(llvm::ArrayRef<mlir::Value> leaves, llvm::ArrayRef<std::string> names);

  /// The normal form of a value. Where there is none, fails, and says why in `why` and at which op in `where`.
  mlir::FailureOr<Form> of(mlir::Value value, std::string &why, mlir::Operation *&where);

  /// The atom that is leaf number `leaf`, or its exponential.
  unsigned leafAtom(unsigned leaf) const { return 2 * leaf; }
  unsigned expAtom(unsigned leaf) const { return 2 * leaf + 1; }
  static bool isExp(unsigned atom) { return atom % 2; }
  static unsigned leafOf(unsigned atom) { return atom / 2; }

  /// Puts a form into its normal form: products in a fixed order, equal terms added up, zero terms dropped.
  mlir::FailureOr<Form> normalize(Form form) const;

  /// The product of two terms over common indices: `aMap[i]` is what becomes of dimension i of a: a dimension of the
  /// product, or ~j for the new summed index j, of extent summed[j].
  static Term product(const Term &a, llvm::ArrayRef<int> aMap, const Term &b, llvm::ArrayRef<int> bMap,
                      llvm::ArrayRef<int64_t> summed);

  /// Text for messages: "-x4[a] S[a,s,c] + ...": dimensions are a, b, c; summed indices s, t, u.
  std::string text(const Term &term) const;
  std::string text(const Form &form) const;

private:
  mlir::FailureOr<Form> build(mlir::Value value);
  mlir::FailureOr<Form> buildOp(mlir::Operation *op);
  mlir::FailureOr<Form> buildExp(mlir::Operation *op, mlir::Value x);
  mlir::FailureOr<Form> multiply(const Form &a, llvm::ArrayRef<int> aMap, const Form &b, llvm::ArrayRef<int> bMap,
                                 llvm::ArrayRef<int64_t> summed);
  mlir::LogicalResult fail(mlir::Operation *op, std::string why);

  llvm::SmallVector<mlir::Value> leaves_;
  llvm::SmallVector<std::string> names_;
  llvm::DenseMap<mlir::Value, Form> known_;
  std::string why_;
  mlir::Operation *where_ = nullptr;
};

} // namespace qcc

#endif // COMPILER_RAISE_MULTILINEAR_H
