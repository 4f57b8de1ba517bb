// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qrun/Devices.h"

#include "runtime/backends/cpu/CpuDevice.h"
#include "runtime/backends/cpu/Gemm.h"
#ifdef QCC_HAS_CUDA
#include "runtime/backends/cuda/CudaDevice.h"
#include "runtime/base/CacheFolder.h"
#include "runtime/base/File.h"
#endif
#include "tools/cli/Numbers.h"

namespace qrt {

void addDeviceOptions(CLI::App &command, DeviceArguments &arguments) {
  addNumber(command, "--threads", arguments.threads, "Threads of the CPU, 0: all");
  command.add_option("--bf16-products", arguments.bf16Products,
                     "How the CPU multiplies bf16 matrices: native, or widened to f32 in tiles (where it can: native)");
  addNumber(command, "--gpu", arguments.gpu, "The GPU, among those that the driver sees");
  command
      .add_option("--launch", arguments.launch,
                  "On a GPU: graph (a step is one launch) or eager (instruction by instruction, for debugging)")
      ->capture_default_str();
  command
      .add_option("--products", arguments.products,
                  "On a GPU: the algorithms of matrix products that another run had (its products.json), for its bits")
      ->type_name("FILE");
  command.add_flag("--poison", arguments.poison,
                   "Fill all memory with NaN before it is used: a value that nobody wrote shows");
}

static Status setBf16Products(const std::string &products) {
  if (products.empty())
    return Status();
  if (products != "native" && products != "widened")
    return error(StatusCode::InvalidUsage, "--bf16-products: expected native or widened, got {}", products);
  if (products == "native" && !cpu::nativeBf16Supported())
    return error(StatusCode::Unsupported, "--bf16-products: this processor has no bf16 products");
  cpu::setBf16Mode(products == "native" ? cpu::Bf16Mode::Native : cpu::Bf16Mode::Widened);
  return Status();
}

static StatusOr<std::unique_ptr<Device>> openGpu(const Program &program, const DeviceArguments &arguments) {
#ifdef QCC_HAS_CUDA
  cuda::LaunchMode mode;
  if (arguments.launch == "graph")
    mode = cuda::LaunchMode::Graph;
  else if (arguments.launch == "eager")
    mode = cuda::LaunchMode::Eager;
  else
    return error(StatusCode::InvalidUsage, "--launch: expected graph or eager, got {}", arguments.launch);
  if (arguments.gpu < 0)
    return error(StatusCode::InvalidUsage, "--gpu: expected 0 or more, got {}", arguments.gpu);
  if (!arguments.products.empty())
    QRT_RETURN_IF_ERROR(checkReadable(arguments.products).withContext("--products"));
  return cuda::createCudaDevice({.ordinal = arguments.gpu,
                                 .launch = mode,
                                 .poison = arguments.poison,
                                 .cacheFolder = cacheFolder(),
                                 .products = arguments.products});
#else
  return error(
      StatusCode::Unsupported,
      "{} is compiled for {}, but this qrun was built without the CUDA backend: there was no CUDA toolkit 13, nor "
      "what `tools/setup.sh --cuda` installs of it",
      program.source(), program.target());
#endif
}

StatusOr<std::unique_ptr<Device>> openDevice(const Program &program, const DeviceArguments &arguments) {
  QRT_RETURN_IF_ERROR(setBf16Products(arguments.bf16Products));
  // Far beyond any machine's, and few enough that the system can start them.
  constexpr int kMostThreads = 1024;
  if (arguments.threads < 0 || arguments.threads > kMostThreads)
    return error(StatusCode::InvalidUsage, "--threads: expected 0 to {}, got {}", kMostThreads, arguments.threads);
  if (program.target() == "cpu")
    return cpu::createCpuDevice({.threads = arguments.threads, .poison = arguments.poison});
  return openGpu(program, arguments);
}

} // namespace qrt
