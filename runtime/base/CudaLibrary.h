// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BASE_CUDALIBRARY_H
#define RUNTIME_BASE_CUDALIBRARY_H

#include "runtime/base/DynamicLibrary.h"

namespace qrt {

/// Opens a library of CUDA toolkit 13. `file`: "libnvrtc.so.13"; `variable`: of the environment; if it is set, the
/// library is that of the folder which it names. Otherwise it is the first that opens of: where the build found the
/// toolkit (cmake/CudaToolkit.cmake), .cuda/ of the tree that holds the running program (its build may have been
/// copied, or .cuda/ made later), where the loader looks, /usr/local/cuda. Unsupported saying how to get it and why
/// each did not open; `what` names the library in words, `script` installs it
/// ("tools/cuda_wheels.sh --gpu").
StatusOr<DynamicLibrary> openCudaLibrary(std::string_view what, std::string_view file, const char *variable,
                                         std::string_view script);

} // namespace qrt

#endif // RUNTIME_BASE_CUDALIBRARY_H
