// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_PRODUCTCHOICES_H
#define RUNTIME_BACKENDS_CUDA_PRODUCTCHOICES_H

#include "runtime/backends/cuda/cublaslt/CublasLt.h"

#include <map>
#include <string>

namespace qrt::cuda {

/// The algorithm of a matrix product, and how it came about.
struct ProductChoice {
  enum class Reason {
    /// The fastest of the library's candidates.
    Timed,
    /// The library's first: there was no time, or no memory, to time them.
    First,
    /// As a file of choices says.
    Given,
  };
  LtAlgorithm algorithm;
  Reason reason = Reason::Timed;
};

bool operator==(const LtAlgorithm &a, const LtAlgorithm &b);

/// Algorithms of matrix products by their name (PreparedGemm::name), for one kind of GPU and one version of the
/// library: elsewhere they mean nothing. With the same choices a run has the same bits. A JSON file:
/// {"gpu": "NVIDIA H200", "library": "cuBLASLt 13.1.0", "products": {NAME: {"algorithm": 128 hexadecimal digits,
/// "reason": "timed", "first" or "given"}}}.
class ProductChoices {
public:
  ProductChoices(std::string gpu, std::string library) : gpu_(std::move(gpu)), library_(std::move(library)) {}

  /// The longest text that is read.
  static constexpr int64_t kMaxFileBytes = int64_t{16} << 20;
  /// InvalidData, naming `source` and the member, for text that is no such file.
  static StatusOr<ProductChoices> parse(std::string_view text, const std::string &source);
  /// Products sorted by name; ends with a line feed.
  std::string print() const;

  /// Unsupported, naming `source` and both, if these choices are of another GPU or library.
  Status checkSameMachine(const ProductChoices &machine, const std::string &source) const;

  /// Null if there is none of this name.
  const ProductChoice *find(const std::string &name) const;
  /// Replaces one of the same name.
  void set(const std::string &name, const ProductChoice &choice) { choices_.insert_or_assign(name, choice); }
  size_t size() const { return choices_.size(); }

private:
  std::string gpu_, library_;
  std::map<std::string, ProductChoice> choices_;
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_PRODUCTCHOICES_H
