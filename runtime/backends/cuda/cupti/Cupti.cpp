// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/cupti/Cupti.h"

#include "runtime/base/CudaLibrary.h"

namespace qrt::cuda {

Status Cupti::load() {
  constexpr uint32_t kOldest = 130000;
  QRT_ASSIGN_OR_RETURN(DynamicLibrary library, openCudaLibrary("CUPTI, which records what a GPU does", "libcupti.so.13",
                                                               "QCC_CUPTI_DIR", "tools/cuda_wheels.sh --gpu"));
  // First what every version has, to name the version where the rest is missing.
  QRT_ASSIGN_OR_RETURN(void *getVersion, library.symbol("cuptiGetVersion"));
  uint32_t version = 0;
  if (int result = reinterpret_cast<decltype(functions_.cuptiGetVersion)>(getVersion)(&version))
    return error(StatusCode::Unsupported, "{} does not say its version (error {})", library.name(), result);
  if (version < kOldest)
    return error(StatusCode::Unsupported, "{} is of API version {}, but this program needs {} or later", library.name(),
                 version, kOldest);
#define QRT_CUPTI(name, ...)                                                                                           \
  {                                                                                                                    \
    QRT_ASSIGN_OR_RETURN(void *address, library.symbol(#name));                                                        \
    functions_.name = reinterpret_cast<decltype(functions_.name)>(address);                                            \
  }
#include "runtime/backends/cuda/cupti/CuptiApi.def"
  return Status();
}

StatusOr<const Cupti *> Cupti::open() { return OpenedLibrary<Cupti>::get(); }

Status Cupti::check(int result, std::string_view what) const {
  if (result == 0)
    return Status();
  const char *text = nullptr;
  functions_.cuptiGetResultString(result, &text);
  return error(StatusCode::Unsupported, "{}: {}", what, text ? text : "the library does not know the error");
}

} // namespace qrt::cuda
