// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_NVRTC_CUBINCACHE_H
#define RUNTIME_NVRTC_CUBINCACHE_H

#include "runtime/nvrtc/Nvrtc.h"

namespace qrt {

/// Cubins on disk, by the SHA-256 of what they are made of: the sources that are included, the expression, the options.
/// What is damaged, or was made by another version of NVRTC, is compiled again; on a machine without NVRTC a cubin of
/// any version serves. Several processes may use one folder.
class CubinCache {
public:
  /// `folder` is made when something is written; empty: nothing is kept.
  explicit CubinCache(std::string folder) : folder_(std::move(folder)) {}

  /// As Nvrtc::compile. A folder that cannot be written is no error.
  StatusOr<Cubin> compile(std::span<const SourceFile> files, const std::string &main, const std::string &expression,
                          std::string_view architecture);

  /// Functions that were compiled, and found, so far.
  int64_t compiled() const { return compiled_; }
  int64_t found() const { return found_; }

private:
  std::string folder_;
  int64_t compiled_ = 0, found_ = 0;
};

} // namespace qrt

#endif // RUNTIME_NVRTC_CUBINCACHE_H
