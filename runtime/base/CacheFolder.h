// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BASE_CACHEFOLDER_H
#define RUNTIME_BASE_CACHEFOLDER_H

#include <string>

namespace qrt {

/// Where things are kept that save time and may be removed at any time: $QCC_CACHE_DIR, else $XDG_CACHE_HOME/qcc, else
/// ~/.cache/qcc; empty where there is none of them.
std::string cacheFolder();

} // namespace qrt

#endif // RUNTIME_BASE_CACHEFOLDER_H
