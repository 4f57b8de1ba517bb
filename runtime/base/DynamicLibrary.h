// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BASE_DYNAMICLIBRARY_H
#define RUNTIME_BASE_DYNAMICLIBRARY_H

#include "runtime/base/Status.h"

#include <initializer_list>

namespace qrt {

/// A shared library opened while the program runs, so that the program also starts on machines without it. It stays
/// open until the process ends: addresses of its functions live as long.
class DynamicLibrary {
public:
  /// The first of `names` (file names the loader searches for, or paths) that opens. Unsupported with the loader's
  /// reason for each otherwise; `what` names the library in words.
  static StatusOr<DynamicLibrary> open(std::string_view what, std::initializer_list<std::string> names);

  /// Unsupported naming the library and the symbol if it has none of this name.
  StatusOr<void *> symbol(const char *name) const;

  /// The file name or path that opened.
  const std::string &name() const { return name_; }

private:
  DynamicLibrary(std::string name, void *handle) : name_(std::move(name)), handle_(handle) {}

  std::string name_;
  void *handle_;
};

} // namespace qrt

#endif // RUNTIME_BASE_DYNAMICLIBRARY_H
