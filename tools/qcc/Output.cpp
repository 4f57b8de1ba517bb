// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qcc/Output.h"

#include "runtime/base/File.h"

#include "llvm/Support/raw_ostream.h"

namespace qcc {

bool isStandardOutput(const std::string &path) { return path.empty() || path == "-"; }

qrt::Status writeOutput(const std::string &path, std::string_view contents) {
  if (!isStandardOutput(path))
    return qrt::writeFileAtomically(path, contents);
  llvm::outs() << contents;
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return qrt::Status();
  std::string what = llvm::outs().error().message();
  llvm::outs().clear_error();
  return qrt::error(qrt::StatusCode::Io, "standard output: {}", what);
}

} // namespace qcc
