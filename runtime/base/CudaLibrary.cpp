// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/CudaLibrary.h"

#include "runtime/base/File.h"

#include <cstdlib>
#include <filesystem>

namespace qrt {

/// Where tools/cuda_wheels.sh puts libraries in the tree that this program was built or copied in, as a file of
/// build/bin or build/tests; empty where the system does not say which file it is.
static std::string wheelsBesideExecutable() {
  std::error_code failed;
  std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed)
    return std::string();
  return executable.parent_path().parent_path().parent_path() / ".cuda/nvidia/cu13/lib";
}

StatusOr<DynamicLibrary> openCudaLibrary(std::string_view what, std::string_view file, const char *variable,
                                         std::string_view script) {
  if (const char *folder = std::getenv(variable))
    return DynamicLibrary::open(fmt::format("{} ({} names its folder)", what, variable), {joinPath(folder, file)});
  std::string explained = fmt::format("{} (it comes with CUDA toolkit 13, or `{}` installs it; {} may name "
                                      "its folder)",
                                      what, script, variable);
  std::string name(file);
  constexpr std::string_view kBuilt = QRT_CUDA_LIBRARIES;
  std::vector<std::string> places;
  if (!kBuilt.empty()) // else built without CUDA
    places.push_back(joinPath(kBuilt, name));
  if (std::string wheels = wheelsBesideExecutable(); !wheels.empty() && wheels != kBuilt)
    places.push_back(joinPath(wheels, name));
  places.push_back(name);
  places.push_back(joinPath("/usr/local/cuda/lib64", name));
  return DynamicLibrary::open(explained, places);
}

} // namespace qrt
