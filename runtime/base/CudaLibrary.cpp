// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/CudaLibrary.h"

#include "runtime/base/File.h"

#include <cstdlib>

namespace qrt {

StatusOr<DynamicLibrary> openCudaLibrary(std::string_view what, std::string_view file, const char *variable,
                                         std::string_view option) {
  if (const char *folder = std::getenv(variable))
    return DynamicLibrary::open(fmt::format("{} ({} names its folder)", what, variable), {joinPath(folder, file)});
  std::string explained =
      fmt::format("{} (it comes with CUDA toolkit 13, or `tools/setup.sh {}` installs it; {} may name "
                  "its folder)",
                  what, option, variable);
  std::string name(file), usual = joinPath("/usr/local/cuda/lib64", file);
  constexpr std::string_view kBuilt = QRT_CUDA_LIBRARIES;
  if (kBuilt.empty()) // built without CUDA
    return DynamicLibrary::open(explained, {name, usual});
  return DynamicLibrary::open(explained, {joinPath(kBuilt, file), name, usual});
}

} // namespace qrt
