// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_CHOICESFILE_H
#define RUNTIME_BACKENDS_CUDA_CHOICESFILE_H

#include "runtime/backends/cuda/ProductChoices.h"

#include <span>

namespace qrt::cuda {

/// The choices of all processes on one kind of machine, in a file that they share.
class ChoicesFile {
public:
  /// `path` empty: there is no file. `machine`: whose choices they are.
  ChoicesFile(std::string path, ProductChoices machine) : path_(std::move(path)), machine_(std::move(machine)) {}

  /// Its choices; none where there is no file, or one that is damaged or another machine's: that costs time alone.
  ProductChoices read() const;

  /// Settles the choices of these products. The first process that comes here with a product has its choice taken by
  /// all: `choices` gets what the file has, the file gets the rest. What the file still has of `refused`, which the
  /// library cannot run, is replaced. Io where the file cannot be written; `choices` then stay as they are.
  Status settle(ProductChoices &choices, std::span<const std::string> products, const ProductChoices &refused) const;

private:
  std::string path_;
  ProductChoices machine_;
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_CHOICESFILE_H
