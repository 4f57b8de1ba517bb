// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TOOLS_CLI_MEMORYSIZE_H
#define TOOLS_CLI_MEMORYSIZE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string_view>

namespace qrt {

/// Bytes of "80GiB", "141GB", "512MiB", "512MB" or a bare number, as the option --memory takes them. InvalidUsage for
/// anything else.
StatusOr<int64_t> parseMemory(std::string_view text);

} // namespace qrt

#endif // TOOLS_CLI_MEMORYSIZE_H
