// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/gpu/DeviceHarness.h"

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!qrt::cuda::test::compileOnly())
    return RUN_ALL_TESTS();
  testing::TestEventListeners &listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  (void)RUN_ALL_TESTS();
  return 0;
}
