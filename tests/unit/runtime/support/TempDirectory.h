// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A directory for one test, removed at its end.
#ifndef TESTS_UNIT_RUNTIME_SUPPORT_TEMPDIRECTORY_H
#define TESTS_UNIT_RUNTIME_SUPPORT_TEMPDIRECTORY_H

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace qrt::test {

class TempDirectory {
public:
  TempDirectory() {
    std::string pattern = ::testing::TempDir() + "qrt-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  TempDirectory(const TempDirectory &) = delete;
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string &path() const { return path_; }
  std::string operator/(const std::string &name) const { return path_ + "/" + name; }

private:
  std::string path_;
};

} // namespace qrt::test

#endif // TESTS_UNIT_RUNTIME_SUPPORT_TEMPDIRECTORY_H
