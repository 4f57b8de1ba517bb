// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUPTI, the library that tells what a GPU did and when, opened while the program runs. The few types and numbers that
// are used are declared here; they are part of its binary interface: the beginnings of records, which later versions
// only add to (tests/unit/cuda/CuptiRecordsTest.cpp compares them with the header where there is one).
#ifndef RUNTIME_BACKENDS_CUDA_CUPTI_CUPTI_H
#define RUNTIME_BACKENDS_CUDA_CUPTI_CUPTI_H

#include "runtime/base/DynamicLibrary.h"

#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <type_traits>

namespace qrt::cuda {

/// What every record begins with.
struct CuptiActivity {
  int32_t kind;
};

namespace cupti {
constexpr int kMemcpy = 1, kMemset = 2, kConcurrentKernel = 10;
constexpr int kMaxLimitReached = 12;
constexpr uint32_t kFlushForced = 1;
} // namespace cupti

/// A kernel's record. Times in nanoseconds.
struct CuptiKernel {
  int32_t kind;
  uint8_t configuration[12];
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t staticShared, dynamicShared;
  uint32_t localPerThread, localTotal, correlation;
  int64_t gridId;
  /// Mangled; lives until the record's buffer is given back.
  const char *name;
};

/// A copy's record, and that of a fill.
struct CuptiTransfer {
  int32_t kind;
  /// Of a copy: its kind, and the kinds of memory that it is from and to.
  uint8_t copyKind, from, to, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
};

using CuptiBufferRequest = void (*)(uint8_t **buffer, size_t *bytes, size_t *records);
using CuptiBufferComplete = void (*)(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                                     size_t validBytes);

struct CuptiFunctions {
#define QRT_CUPTI(name, ...) std::add_pointer_t<__VA_ARGS__> name;
#include "runtime/backends/cuda/cupti/CuptiApi.def"
};

class Cupti {
public:
  /// Opened on first use, then shared. Unsupported, naming both versions, where there is none or one older than 13.0.
  static StatusOr<const Cupti *> open();

  const CuptiFunctions *operator->() const { return &functions_; }

  /// Success for 0; otherwise Unsupported "`what`: what the library says".
  Status check(int result, std::string_view what) const;

private:
  friend class OpenedLibrary<Cupti>;
  Cupti() = default;
  Status load();

  CuptiFunctions functions_{};
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_CUPTI_CUPTI_H
