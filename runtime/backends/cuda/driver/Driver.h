// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA driver, opened while the program runs.
#ifndef RUNTIME_BACKENDS_CUDA_DRIVER_DRIVER_H
#define RUNTIME_BACKENDS_CUDA_DRIVER_DRIVER_H

#include "runtime/base/DynamicLibrary.h"

#include <cuda.h>

namespace qrt::cuda {

/// Pointers to the driver's functions, under their own names.
struct DriverFunctions {
#define QRT_CUDA(name) decltype(&::name) name;
#include "runtime/backends/cuda/driver/DriverApi.def"
};

class Driver {
public:
  /// The oldest driver that will do: the first of the major version of CUDA whose header this was built with. A
  /// function that it should lack all the same is named when it is opened.
  static constexpr int kVersion = CUDA_VERSION / 1000 * 1000;
  /// As NVIDIA numbers the driver's own releases.
  static constexpr int kRelease = 580;
  static_assert(kVersion == 13000, "kRelease is that of CUDA 13.0");

  /// Opened and initialized on first use, then shared. Unsupported where there is no driver, one older than kVersion
  /// (naming both versions), or no GPU.
  static StatusOr<const Driver *> open();

  const DriverFunctions *operator->() const { return &functions_; }

  /// Success for CUDA_SUCCESS; otherwise an error "`what`: NAME: what the driver says": ResourceExhausted for want of
  /// memory, Unsupported for anything else.
  Status check(CUresult result, std::string_view what) const;

private:
  friend class OpenedLibrary<Driver>;
  Driver() = default;
  Status load();

  DriverFunctions functions_{};
};

/// Returns the error of a driver call from the enclosing function: QRT_CUDA_CHECK(driver, cuMemAlloc(&p, n)).
#define QRT_CUDA_CHECK(driver, ...) QRT_RETURN_IF_ERROR((driver).check((driver)->__VA_ARGS__, #__VA_ARGS__))

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_DRIVER_DRIVER_H
