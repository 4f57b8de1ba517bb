// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the runtime reports what went wrong: a Status, or a StatusOr with a value. No exception crosses a function of the
// runtime. A message names the file, tensor, option or rank, what was expected and what came.
#ifndef RUNTIME_BASE_STATUS_H
#define RUNTIME_BASE_STATUS_H

#include <cassert>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>

namespace qrt {

enum class StatusCode {
  Ok,
  /// A command line, an option or a combination of them makes no sense: exit code 2.
  InvalidUsage,
  /// A file or a message from outside does not hold what its format demands.
  InvalidData,
  /// The operating system refused: no such file, no space, no permission.
  Io,
  /// Valid, but this build, machine or program cannot do it.
  Unsupported,
  /// Memory, table entries or another planned amount does not suffice.
  ResourceExhausted,
};

class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {
    assert(code != StatusCode::Ok && "an error needs an error code");
  }

  bool ok() const { return code_ == StatusCode::Ok; }
  StatusCode code() const { return code_; }
  const std::string &message() const { return message_; }

  /// The same error, its message prefixed with "`context`: ". Success stays success.
  Status withContext(const std::string &context) &&;

private:
  StatusCode code_ = StatusCode::Ok;
  std::string message_;
};

/// Builds an error whose message is formatted by fmt.
template <typename... Args> Status error(StatusCode code, fmt::format_string<Args...> format, Args &&...args) {
  return Status(code, fmt::format(format, std::forward<Args>(args)...));
}

/// A value, or why there is none.
template <typename T> class [[nodiscard]] StatusOr {
public:
  StatusOr(T value) : value_(std::move(value)) {}
  StatusOr(Status status) : status_(std::move(status)) { assert(!status_.ok() && "success needs a value"); }

  bool ok() const { return value_.has_value(); }
  const Status &status() const & { return status_; }
  Status status() && { return std::move(status_); }

  T &operator*() & { return *value_; }
  const T &operator*() const & { return *value_; }
  T &&operator*() && { return *std::move(value_); }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }

private:
  Status status_;
  std::optional<T> value_;
};

} // namespace qrt

#define QRT_CONCAT_IMPL(a, b) a##b
#define QRT_CONCAT(a, b) QRT_CONCAT_IMPL(a, b)

/// Returns the error of a Status expression from the enclosing function.
#define QRT_RETURN_IF_ERROR(expr)                                                                                      \
  do {                                                                                                                 \
    if (::qrt::Status qrtStatus = (expr); !qrtStatus.ok())                                                             \
      return qrtStatus;                                                                                                \
  } while (false)

/// `QRT_ASSIGN_OR_RETURN(auto x, f())`: the value of a StatusOr, or the enclosing function returns its error.
#define QRT_ASSIGN_OR_RETURN(lhs, expr) QRT_ASSIGN_OR_RETURN_IMPL(QRT_CONCAT(qrtResult, __LINE__), lhs, expr)
#define QRT_ASSIGN_OR_RETURN_IMPL(result, lhs, expr)                                                                   \
  auto result = (expr);                                                                                                \
  if (!result.ok())                                                                                                    \
    return std::move(result).status();                                                                                 \
  lhs = *std::move(result)

#endif // RUNTIME_BASE_STATUS_H
