// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/Processor.h"

#include <algorithm>
#include <atomic>

namespace qrt::cpu {

static std::atomic<ProcessorIsa> &limit() {
  static std::atomic<ProcessorIsa> limit = ProcessorIsa::V4;
  return limit;
}
void limitProcessorIsa(ProcessorIsa most) { limit() = most; }

#if defined(__x86_64__)
static ProcessorIsa detectedIsa() {
  static const ProcessorIsa isa = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4"))
      return ProcessorIsa::V4;
    if (__builtin_cpu_supports("x86-64-v3"))
      return ProcessorIsa::V3;
    return ProcessorIsa::Base;
  }();
  return isa;
}

bool processorHasBf16() {
  static const bool has = [] {
    __builtin_cpu_init();
    return detectedIsa() == ProcessorIsa::V4 && __builtin_cpu_supports("avx512bf16");
  }();
  return has;
}
#else
static ProcessorIsa detectedIsa() { return ProcessorIsa::Base; }
bool processorHasBf16() { return false; }
#endif

ProcessorIsa processorIsa() { return std::min(detectedIsa(), limit().load(std::memory_order_relaxed)); }

} // namespace qrt::cpu
