// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/CacheFolder.h"

#include "runtime/base/File.h"

#include <cstdlib>

namespace qrt {

std::string cacheFolder() {
  if (const char *folder = std::getenv("QCC_CACHE_DIR"))
    return folder;
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return joinPath(cache, "qcc");
  if (const char *home = std::getenv("HOME"); home && *home)
    return joinPath(home, ".cache/qcc");
  return "";
}

} // namespace qrt
