// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/DeviceSources.h"

namespace qrt::cuda {

std::span<const SourceFile> deviceSources() {
  static const SourceFile kFiles[] = {
#define QRT_TEXT(name, text) {name, {text, sizeof(text) - 1}},
#include "runtime/backends/cuda/DeviceSources.inc"
#undef QRT_TEXT
  };
  return kFiles;
}

} // namespace qrt::cuda
