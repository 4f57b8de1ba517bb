// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TOOLS_QCC_IMPORT_H
#define TOOLS_QCC_IMPORT_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace qcc {

/// What `qcc import` was asked for: a Hugging Face folder (or its config.json), or a published size.
struct ImportOptions {
  std::string source;
  std::string size;
  /// Absent: as many as the config says.
  std::optional<int64_t> layers;
  /// "bf16", "f32" or empty: as the config says.
  std::string dtype;
  /// "-": standard output.
  std::string output = "-";
  /// Write MLIR bytecode instead of text.
  bool bytecode = false;
};

/// Writes the model as MLIR of the phase `model`.
qrt::Status importModel(const ImportOptions &options);

} // namespace qcc

#endif // TOOLS_QCC_IMPORT_H
