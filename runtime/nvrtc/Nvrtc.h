// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA C++ to machine code (NVRTC, opened while the program runs). Needs no GPU.
#ifndef RUNTIME_NVRTC_NVRTC_H
#define RUNTIME_NVRTC_NVRTC_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace qrt {

struct SourceFile {
  std::string_view name;
  std::string_view text;
};

/// Machine code of one device function.
struct Cubin {
  /// Under which the driver finds it in the image.
  std::string symbol;
  std::vector<uint8_t> image;
  /// What the compiler and the assembler said: registers, spills, warnings.
  std::string log;
};

class Nvrtc {
public:
  /// Opened on first use, then shared. Unsupported, naming what to install, where there is none.
  static StatusOr<const Nvrtc *> open();

  /// "13.0".
  std::string version() const;

  /// Compiles `expression` ("qrt::device::swiglu<bf16>"), a function that the source text `main` or a file it includes
  /// defines, for an architecture ("sm_90a"). `files` are what can be included, by name. InvalidData with the
  /// compiler's messages if it does not compile. Threads may compile at once.
  StatusOr<Cubin> compile(std::span<const SourceFile> files, const std::string &main, const std::string &expression,
                          std::string_view architecture) const;

private:
  Nvrtc() = default;
  struct Functions;
  const Functions *functions_ = nullptr;
};

/// The options that compile() passes for an architecture: part of a cache's key.
std::vector<std::string> nvrtcOptions(std::string_view architecture);

} // namespace qrt

#endif // RUNTIME_NVRTC_NVRTC_H
