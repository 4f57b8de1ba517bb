// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TOOLS_QCC_BUILD_H
#define TOOLS_QCC_BUILD_H

#include "runtime/base/Status.h"

#include <string>

namespace qcc {

/// What `qcc build` was asked for; empty: not given.
struct BuildOptions {
  std::string input;
  std::string output;
  std::string target;
  /// A phase by name.
  std::string compileTo = "program";
  std::string buckets;
  /// A folder of packed data whose rows say which buckets to build.
  std::string data;
  std::string states;
  std::string remat;
  std::string disabledKernel;
  /// The memory of the device that it is for, like "80GiB": what is recomputed follows from it where `remat` leaves
  /// that open. An error if the program does not fit.
  std::string memory;
  /// A file of `qrun calibrate`: the rates to predict times by.
  std::string machine;
  bool explain = false;
};

/// Compiles a module to a phase's dump or to a program. Compiler errors go to standard error as diagnostics with file,
/// line and caret.
qrt::Status build(const BuildOptions &options);

} // namespace qcc

#endif // TOOLS_QCC_BUILD_H
