// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/ChoicesFile.h"

#include "runtime/base/File.h"
#include "runtime/base/FileLock.h"

namespace qrt::cuda {

ProductChoices ChoicesFile::read() const {
  if (path_.empty() || !pathExists(path_))
    return machine_;
  StatusOr<std::string> text = readFile(path_, ProductChoices::kMaxFileBytes);
  if (!text.ok())
    return machine_;
  StatusOr<ProductChoices> choices = ProductChoices::parse(*text, path_);
  if (!choices.ok() || !choices->checkSameMachine(machine_, path_).ok())
    return machine_;
  return *std::move(choices);
}

Status ChoicesFile::settle(ProductChoices &choices, std::span<const std::string> products,
                           const ProductChoices &refused) const {
  if (path_.empty())
    return error(StatusCode::Io, "there is no folder for the choices of algorithms");
  QRT_RETURN_IF_ERROR(createDirectories(path_.substr(0, path_.rfind('/'))));
  QRT_ASSIGN_OR_RETURN(FileLock lock, FileLock::take(path_ + ".lock"));
  ProductChoices settled = read();
  for (const std::string &product : products) {
    const ProductChoice *has = settled.find(product), *notOffered = refused.find(product);
    if (!has || (notOffered && has->algorithm == notOffered->algorithm))
      settled.set(product, *choices.find(product));
  }
  QRT_RETURN_IF_ERROR(writeFileAtomically(path_, settled.print()));
  for (const std::string &product : products)
    choices.set(product, *settled.find(product));
  return Status();
}

} // namespace qrt::cuda
