// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of a library that is too old the error names both versions, whatever functions it lacks.
#include "runtime/backends/cuda/cublaslt/CublasLt.h"
#include "runtime/backends/cuda/cupti/Cupti.h"
#include "tests/unit/runtime/support/StatusMatchers.h"

namespace qrt::cuda {
namespace {

TEST(OldLibraries, CublasLt) {
  ASSERT_EQ(::setenv("QCC_CUBLAS_DIR", QCC_OLD_LIBRARIES, 1), 0);
  EXPECT_ERROR(CublasLt::open(), StatusCode::Unsupported,
               QCC_OLD_LIBRARIES "/libcublasLt.so.13 is version 12.9.5, but this program needs 13.0.0 or later");
}

TEST(OldLibraries, Cupti) {
  ASSERT_EQ(::setenv("QCC_CUPTI_DIR", QCC_OLD_LIBRARIES, 1), 0);
  EXPECT_ERROR(Cupti::open(), StatusCode::Unsupported,
               QCC_OLD_LIBRARIES "/libcupti.so.13 is of API version 28, but this program needs 130000 or later");
}

} // namespace
} // namespace qrt::cuda
