// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Safetensors files spelled by hand, right or wrong.
#ifndef TESTS_UNIT_RUNTIME_SUPPORT_SAFETENSORSBYTES_H
#define TESTS_UNIT_RUNTIME_SUPPORT_SAFETENSORSBYTES_H

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace qrt::test {

/// A file of this header, whatever it says, and `dataBytes` bytes 0, 1, 2, ...
inline std::string safetensorsBytes(std::string_view header, size_t dataBytes) {
  uint64_t length = header.size();
  std::string file(reinterpret_cast<const char *>(&length), sizeof(length));
  file += header;
  for (size_t i = 0; i < dataBytes; ++i)
    file += static_cast<char>(i);
  return file;
}

} // namespace qrt::test

#endif // TESTS_UNIT_RUNTIME_SUPPORT_SAFETENSORSBYTES_H
