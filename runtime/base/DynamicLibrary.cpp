// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/DynamicLibrary.h"

#include <dlfcn.h>

namespace qrt {

StatusOr<DynamicLibrary> DynamicLibrary::open(std::string_view what, const std::vector<std::string> &names) {
  std::string reasons;
  for (const std::string &name : names) {
    if (void *handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
      return DynamicLibrary(name, handle);
    const char *reason = ::dlerror();
    reasons.append(reasons.empty() ? "" : "; ").append(reason ? reason : "unknown reason");
  }
  return error(StatusCode::Unsupported, "{} cannot be opened: {}", what, reasons);
}

StatusOr<void *> DynamicLibrary::symbol(const char *name) const {
  if (void *address = ::dlsym(handle_, name))
    return address;
  return error(StatusCode::Unsupported, "{} has no function {}", name_, name);
}

} // namespace qrt
