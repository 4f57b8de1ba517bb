// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code that comes with a program, before the driver sees it. Running a program for a GPU is running its code:
// it is as trusted as qrun itself. What is checked here finds programs of another version, and damaged ones.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICECODE_H
#define RUNTIME_BACKENDS_CUDA_DEVICECODE_H

#include "runtime/program/Program.h"

namespace qrt::cuda {

/// Of a device function: the name under which the driver finds it in the image, and the image, a cubin.
struct DeviceCode {
  std::string symbol;
  std::vector<uint8_t> image;
};

/// SHA-256 of the files of device/ as they were when this program was built: they are compiled into programs by one
/// binary, and their parameters are filled by another.
std::string_view deviceSourcesDigest();

/// The code of a function of a program. Unsupported if the program has none, or was built from other device sources;
/// InvalidData if the code is damaged.
StatusOr<DeviceCode> deviceCodeOf(const Program &program, const std::string &function);

/// InvalidData unless `image` is a 64-bit ELF file for CUDA whose tables and sections lie in it: the driver is told no
/// length.
Status checkImage(std::string_view function, std::span<const uint8_t> image);

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_DEVICECODE_H
