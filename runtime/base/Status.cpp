// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/Status.h"

namespace qrt {

Status Status::withContext(const std::string &context) && {
  if (!ok())
    message_ = context + ": " + message_;
  return std::move(*this);
}

} // namespace qrt
