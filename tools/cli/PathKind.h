// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What people give a command by mistake, so that the message can say which command it is for.
#ifndef TOOLS_CLI_PATHKIND_H
#define TOOLS_CLI_PATHKIND_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace qrt {

enum class PathKind : uint8_t {
  Missing,
  Folder, ///< none of the following
  HuggingFace,
  Tokens,
  Packed,
  Run,
  File, ///< none of the following
  Module,
  Program,
  Safetensors,
  Json,
  JsonLines,
};

/// What is at a path, by the names in a folder or the first bytes of a file. Nothing is checked beyond that.
PathKind pathKind(const std::string &path);

/// "a Hugging Face folder", "a compiled program".
std::string_view describe(PathKind kind);

/// "PATH: expected a module, got packed data".
std::string expectedPath(const std::string &path, std::string_view expected);

/// Whether an option's path is a folder of packed data, or one that was meant to be: InvalidUsage with the command that
/// makes one, or Io where nothing is.
Status checkPacked(std::string_view option, const std::string &path);

} // namespace qrt

#endif // TOOLS_CLI_PATHKIND_H
