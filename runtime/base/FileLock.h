// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BASE_FILELOCK_H
#define RUNTIME_BASE_FILELOCK_H

#include "runtime/base/Status.h"

#include <string>
#include <utility>

namespace qrt {

/// Keeps other processes that lock the same path out, until it is destroyed. The file at the path is made if need be,
/// stays, and holds nothing.
class FileLock {
public:
  /// Waits for whoever has it. Io, naming the path, where the file cannot be made or locked.
  static StatusOr<FileLock> take(const std::string &path);

  FileLock(FileLock &&other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FileLock &operator=(FileLock &&) = delete;
  ~FileLock();

private:
  explicit FileLock(int file) : file_(file) {}
  int file_;
};

} // namespace qrt

#endif // RUNTIME_BASE_FILELOCK_H
