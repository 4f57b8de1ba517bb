// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/cublaslt/CublasLt.h"

#include "runtime/base/CudaLibrary.h"

namespace qrt::cuda {

static std::string printVersion(size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

Status CublasLt::load() {
  constexpr size_t kOldest = 130000;
  QRT_ASSIGN_OR_RETURN(DynamicLibrary library,
                       openCudaLibrary("cuBLASLt, which multiplies matrices on GPUs", "libcublasLt.so.13",
                                       "QCC_CUBLAS_DIR", "tools/cuda_wheels.sh --gpu"));
  // First what every version has, to name the version where the rest is missing.
  QRT_ASSIGN_OR_RETURN(void *getVersion, library.symbol("cublasLtGetVersion"));
  if (size_t found = reinterpret_cast<decltype(functions_.cublasLtGetVersion)>(getVersion)(); found < kOldest)
    return error(StatusCode::Unsupported, "{} is version {}, but this program needs {} or later", library.name(),
                 printVersion(found), printVersion(kOldest));
#define QRT_CUBLASLT(name, ...)                                                                                        \
  {                                                                                                                    \
    QRT_ASSIGN_OR_RETURN(void *address, library.symbol(#name));                                                        \
    functions_.name = reinterpret_cast<decltype(functions_.name)>(address);                                            \
  }
#include "runtime/backends/cuda/cublaslt/CublasLtApi.def"
  return check(functions_.cublasLtCreate(&handle_), "cublasLtCreate");
}

StatusOr<const CublasLt *> CublasLt::open() { return OpenedLibrary<CublasLt>::get(); }

std::string CublasLt::version() const { return printVersion(functions_.cublasLtGetVersion()); }

Status CublasLt::check(int status, std::string_view what) const {
  if (status == 0)
    return Status();
  return error(StatusCode::Unsupported, "{}: {}", what, functions_.cublasLtGetStatusString(status));
}

} // namespace qrt::cuda
