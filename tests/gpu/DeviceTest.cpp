// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/gpu/DeviceHarness.h"

using namespace qrt::cuda::test;

/// What every test needs: the driver, a GPU of compute capability 9.0 and cuBLASLt. gpu_check.py asks for this one
/// first.
TEST(Device, Opens) {
  if (!compileOnly())
    gpu();
}
