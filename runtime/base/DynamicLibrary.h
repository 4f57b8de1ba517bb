// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BASE_DYNAMICLIBRARY_H
#define RUNTIME_BASE_DYNAMICLIBRARY_H

#include "runtime/base/Status.h"

#include <vector>

namespace qrt {

/// A shared library opened while the program runs, so that the program also starts on machines without it. It stays
/// open until the process ends: addresses of its functions live as long.
class DynamicLibrary {
public:
  /// The first of `names` (file names the loader searches for, or paths) that opens. Unsupported with the loader's
  /// reason for each otherwise; `what` names the library in words.
  static StatusOr<DynamicLibrary> open(std::string_view what, const std::vector<std::string> &names);

  /// Unsupported naming the library and the symbol if it has none of this name.
  StatusOr<void *> symbol(const char *name) const;

  /// The file name or path that opened.
  const std::string &name() const { return name_; }

private:
  DynamicLibrary(std::string name, void *handle) : name_(std::move(name)), handle_(handle) {}

  std::string name_;
  void *handle_;
};

/// The one object of a class that stands for a library: its private load() is called when it is first asked for. The
/// class names this a friend.
template <typename Library> class OpenedLibrary {
public:
  /// The object, which lives until the process ends, or the error of load().
  static StatusOr<const Library *> get() {
    static const OpenedLibrary opened;
    if (!opened.status_.ok())
      return opened.status_;
    return &opened.library_;
  }

private:
  OpenedLibrary() : status_(library_.load()) {}

  Library library_;
  Status status_;
};

} // namespace qrt

#endif // RUNTIME_BASE_DYNAMICLIBRARY_H
