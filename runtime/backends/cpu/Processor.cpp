// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/Processor.h"

namespace qrt::cpu {

#if defined(__x86_64__)
ProcessorIsa processorIsa() {
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
    return processorIsa() == ProcessorIsa::V4 && __builtin_cpu_supports("avx512bf16");
  }();
  return has;
}
#else
ProcessorIsa processorIsa() { return ProcessorIsa::Base; }
bool processorHasBf16() { return false; }
#endif

} // namespace qrt::cpu
