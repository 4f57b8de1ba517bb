// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/driver/Driver.h"

namespace qrt::cuda {

// cuda.h renames functions to their current version (cuMemAlloc is cuMemAlloc_v2): expanded before it becomes a string.
#define QRT_SYMBOL_IMPL(name) #name
#define QRT_SYMBOL(name) QRT_SYMBOL_IMPL(name)

static std::string printVersion(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

Status Driver::load() {
  QRT_ASSIGN_OR_RETURN(
      DynamicLibrary library,
      DynamicLibrary::open(fmt::format("the NVIDIA driver (release {} or later)", kRelease), {"libcuda.so.1"}));
  // First what every driver has, to name its version where the rest is missing.
  QRT_ASSIGN_OR_RETURN(void *getVersion, library.symbol("cuDriverGetVersion"));
  int version = 0;
  if (CUresult result = reinterpret_cast<decltype(&::cuDriverGetVersion)>(getVersion)(&version))
    return error(StatusCode::Unsupported, "the NVIDIA driver does not say its version (error {})",
                 static_cast<int>(result));
  if (version < kVersion)
    return error(StatusCode::Unsupported,
                 "the NVIDIA driver is for CUDA {}, but this program needs one for CUDA {} or later, release {}",
                 printVersion(version), printVersion(kVersion), kRelease);
#define QRT_CUDA(name)                                                                                                 \
  {                                                                                                                    \
    QRT_ASSIGN_OR_RETURN(void *address, library.symbol(QRT_SYMBOL(name)));                                             \
    functions_.name = reinterpret_cast<decltype(functions_.name)>(address);                                            \
  }
#include "runtime/backends/cuda/driver/DriverApi.def"
  QRT_RETURN_IF_ERROR(check(functions_.cuInit(0), "cuInit"));
  int count = 0;
  QRT_RETURN_IF_ERROR(check(functions_.cuDeviceGetCount(&count), "cuDeviceGetCount"));
  if (count == 0)
    return error(StatusCode::Unsupported, "the NVIDIA driver sees no GPU");
  return Status();
}

StatusOr<const Driver *> Driver::open() { return OpenedLibrary<Driver>::get(); }

Status Driver::check(CUresult result, std::string_view what) const {
  if (result == CUDA_SUCCESS)
    return Status();
  const char *name = nullptr, *text = nullptr;
  functions_.cuGetErrorName(result, &name);
  functions_.cuGetErrorString(result, &text);
  return error(result == CUDA_ERROR_OUT_OF_MEMORY ? StatusCode::ResourceExhausted : StatusCode::Unsupported,
               "{}: {}: {}", what, name ? name : "unknown error", text ? text : "the driver does not know it");
}

} // namespace qrt::cuda
