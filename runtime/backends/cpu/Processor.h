// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the processor that this runs on can do.
#ifndef RUNTIME_BACKENDS_CPU_PROCESSOR_H
#define RUNTIME_BACKENDS_CPU_PROCESSOR_H

#include <string>

namespace qrt::cpu {

/// The levels of the x86-64 ABI that matter here: Base (SSE2, or another architecture), V3 (AVX2, FMA), V4 (AVX-512 F,
/// BW, CD, DQ, VL).
enum class ProcessorIsa { Base, V3, V4 };
ProcessorIsa processorIsa();
/// From now on as if the processor were not better than this: so that tests cover the kernels of lesser ones. Between
/// calls only.
void limitProcessorIsa(ProcessorIsa most);

/// Whether the processor multiplies bf16 matrices by itself (AVX512_BF16 or AMX-BF16, enabled by the operating system).
bool processorHasBf16();

} // namespace qrt::cpu

#endif // RUNTIME_BACKENDS_CPU_PROCESSOR_H
