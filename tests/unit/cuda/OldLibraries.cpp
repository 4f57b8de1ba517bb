// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is there of a library that came before the oldest that will do: its version.
#include <cstddef>
#include <cstdint>

extern "C" size_t cublasLtGetVersion() { return 120905; }

extern "C" int cuptiGetVersion(uint32_t *version) {
  *version = 28;
  return 0;
}
