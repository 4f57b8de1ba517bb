// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CPU_MEASURERATES_H
#define RUNTIME_BACKENDS_CPU_MEASURERATES_H

#include "runtime/base/DType.h"
#include "runtime/base/ThreadPool.h"

namespace qrt::cpu {

/// Bytes read and written a second by a copy of 64 MiB, and operations a second of a matrix product of 1,024^3 in f32
/// or bf16: the fastest of a few. In memory of their own.
double measureCopyRate(ThreadPool &threads);
double measureProductRate(ThreadPool &threads, DType dtype);

} // namespace qrt::cpu

#endif // RUNTIME_BACKENDS_CPU_MEASURERATES_H
