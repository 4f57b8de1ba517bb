// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/cupti/Cupti.h"

#include "runtime/base/CudaLibrary.h"

namespace qrt::cuda {

Status Cupti::load() {
  constexpr uint32_t kOldest = 130000;
  QRT_ASSIGN_OR_RETURN(DynamicLibrary library, openCudaLibrary("CUPTI, which records what a GPU does", "libcupti.so.13",
                                                               "QCC_CUPTI_DIR", "--gpu"));
#define QRT_CUPTI(name, ...)                                                                                           \
  {                                                                                                                    \
    QRT_ASSIGN_OR_RETURN(void *address, library.symbol(#name));                                                        \
    functions_.name = reinterpret_cast<decltype(functions_.name)>(address);                                            \
  }
#include "runtime/backends/cuda/cupti/CuptiApi.def"
  uint32_t version = 0;
  QRT_RETURN_IF_ERROR(check(functions_.cuptiGetVersion(&version), "cuptiGetVersion"));
  if (version < kOldest)
    return error(StatusCode::Unsupported, "{} is of API version {}, but this program needs {} or later", library.name(),
                 version, kOldest);
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
