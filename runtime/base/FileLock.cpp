// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/FileLock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace qrt {

StatusOr<FileLock> FileLock::take(const std::string &path) {
  constexpr mode_t kMode = 0666;
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  if (file < 0)
    return error(StatusCode::Io, "{}: {}", path, std::strerror(errno));
  FileLock lock(file);
  while (::flock(file, LOCK_EX) != 0)
    if (errno != EINTR)
      return error(StatusCode::Io, "{}: it cannot be locked: {}", path, std::strerror(errno));
  return lock;
}

FileLock::~FileLock() {
  if (file_ >= 0)
    ::close(file_);
}

} // namespace qrt
