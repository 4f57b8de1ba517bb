// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/fuzz/Targets.h"

#include <cstddef>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  qrt::fuzz::readProductChoices({data, size});
  return 0;
}
