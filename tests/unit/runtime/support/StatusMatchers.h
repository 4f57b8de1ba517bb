// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expectations about Status and StatusOr.
#ifndef TESTS_UNIT_RUNTIME_SUPPORT_STATUSMATCHERS_H
#define TESTS_UNIT_RUNTIME_SUPPORT_STATUSMATCHERS_H

#include "runtime/base/Status.h"

#include <gtest/gtest.h>
#include <string>

namespace qrt::test {

inline const Status &statusOf(const Status &status) { return status; }
template <typename T> const Status &statusOf(const StatusOr<T> &result) { return result.status(); }

template <typename R>::testing::AssertionResult isOk(const R &result) {
  if (statusOf(result).ok())
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << statusOf(result).message();
}

/// An error of this code whose message contains `part`.
template <typename R>::testing::AssertionResult isError(const R &result, StatusCode code, const std::string &part) {
  const Status &status = statusOf(result);
  if (status.ok())
    return ::testing::AssertionFailure() << "succeeded, expected: " << part;
  if (status.code() != code)
    return ::testing::AssertionFailure() << "code " << static_cast<int>(status.code()) << ": " << status.message();
  if (status.message().find(part) == std::string::npos)
    return ::testing::AssertionFailure() << "'" << status.message() << "' does not contain '" << part << "'";
  return ::testing::AssertionSuccess();
}

} // namespace qrt::test

#define EXPECT_OK(expr) EXPECT_TRUE(::qrt::test::isOk(expr))
#define ASSERT_OK(expr) ASSERT_TRUE(::qrt::test::isOk(expr))
#define EXPECT_ERROR(expr, code, part) EXPECT_TRUE(::qrt::test::isError(expr, code, part))

#endif // TESTS_UNIT_RUNTIME_SUPPORT_STATUSMATCHERS_H
