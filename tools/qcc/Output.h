// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TOOLS_QCC_OUTPUT_H
#define TOOLS_QCC_OUTPUT_H

#include "runtime/base/Status.h"

#include <string>
#include <string_view>

namespace qcc {

/// Whether `path` is "-" or empty.
bool isStandardOutput(const std::string &path);

/// Writes a whole file, or to standard output.
qrt::Status writeOutput(const std::string &path, std::string_view contents);

} // namespace qcc

#endif // TOOLS_QCC_OUTPUT_H
