// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of the reference evaluator: dense tensors and the documents of a packed row.
#ifndef DIALECTS_QT_REFERENCE_TENSOR_H
#define DIALECTS_QT_REFERENCE_TENSOR_H

#include "runtime/base/IgnoredLabel.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <vector>

namespace qt::reference {

using Shape = llvm::SmallVector<int64_t, 4>;

inline int64_t elementCount(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

/// A dense row-major tensor; rank 0 holds one element. A scalar is a double, a Dual or, for ids, labels and counters,
/// an int64_t.
template <typename Scalar> class Tensor {
public:
  Tensor() : elements_(1) {}
  explicit Tensor(llvm::ArrayRef<int64_t> shape, Scalar fill = Scalar())
      : shape_(shape.begin(), shape.end()), elements_(static_cast<size_t>(elementCount(shape)), fill) {}
  Tensor(llvm::ArrayRef<int64_t> shape, std::vector<Scalar> elements)
      : shape_(shape.begin(), shape.end()), elements_(std::move(elements)) {
    assert(elementCount(shape) == size() && "a tensor needs an element for each index");
  }
  static Tensor scalar(Scalar value) { return Tensor(llvm::ArrayRef<int64_t>(), value); }

  llvm::ArrayRef<int64_t> shape() const { return shape_; }
  int64_t rank() const { return static_cast<int64_t>(shape_.size()); }
  int64_t dim(int64_t axis) const { return shape_[axis]; }
  int64_t size() const { return static_cast<int64_t>(elements_.size()); }
  /// Elements of an index of the first `axes` dimensions: the product of the others.
  int64_t stride(int64_t axes) const { return elementCount(shape().drop_front(axes)); }
  /// Width of the last dimension, and how many vectors of that width there are.
  int64_t width() const { return shape_.back(); }
  int64_t vectors() const { return elementCount(shape().drop_back()); }

  Scalar *data() { return elements_.data(); }
  const Scalar *data() const { return elements_.data(); }
  Scalar &operator[](int64_t i) { return elements_[i]; }
  const Scalar &operator[](int64_t i) const { return elements_[i]; }
  /// First element at index `i` of the first dimension; at indices `i`, `j` of the first two.
  Scalar *at(int64_t i) { return data() + i * stride(1); }
  const Scalar *at(int64_t i) const { return data() + i * stride(1); }
  Scalar *at(int64_t i, int64_t j) { return data() + (i * shape_[1] + j) * stride(2); }
  const Scalar *at(int64_t i, int64_t j) const { return data() + (i * shape_[1] + j) * stride(2); }

  const std::vector<Scalar> &elements() const { return elements_; }
  std::vector<Scalar> &elements() { return elements_; }
  /// The same elements under another shape of as many.
  Tensor reshaped(llvm::ArrayRef<int64_t> shape) const & { return Tensor(shape, elements_); }
  Tensor reshaped(llvm::ArrayRef<int64_t> shape) && { return Tensor(shape, std::move(elements_)); }

private:
  Shape shape_;
  std::vector<Scalar> elements_;
};

using IntTensor = Tensor<int64_t>;

using qrt::kIgnoredLabel;

/// The documents of one packed row of tokens. Tokens past the last document are the tail; they belong to none.
struct Segments {
  /// First token of each document, then the end of the last; an empty document repeats its offset. Never empty, begins
  /// with 0.
  std::vector<int64_t> offsets = {0};
  /// Tokens of the row, tail included.
  int64_t tokens = 0;
  /// The tokens that are trained, ascending.
  std::vector<int64_t> trainedRows;

  /// Documents of the given lengths, then a tail of unused tokens. Nothing is trained.
  static Segments ofLengths(llvm::ArrayRef<int64_t> lengths, int64_t tail = 0) {
    Segments segments;
    for (int64_t length : lengths)
      segments.offsets.push_back(segments.offsets.back() + length);
    segments.tokens = segments.offsets.back() + tail;
    return segments;
  }
  /// The same documents, a token with a label >= 0 inside one of them trained.
  Segments withTrained(const IntTensor &labels) const {
    Segments segments = *this;
    segments.trainedRows.clear();
    for (int64_t token = 0; token < used(); ++token)
      if (labels[token] >= 0)
        segments.trainedRows.push_back(token);
    return segments;
  }

  int64_t documents() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t begin(int64_t document) const { return offsets[document]; }
  int64_t end(int64_t document) const { return offsets[document + 1]; }
  /// Tokens that belong to a document.
  int64_t used() const { return offsets.back(); }
  int64_t trained() const { return static_cast<int64_t>(trainedRows.size()); }
  int64_t longest() const {
    int64_t longest = 0;
    for (int64_t document = 0; document < documents(); ++document)
      longest = std::max(longest, end(document) - begin(document));
    return longest;
  }
};

} // namespace qt::reference

#endif // DIALECTS_QT_REFERENCE_TENSOR_H
