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
  addNumber(command, "--threads", arguments.threads, "On the CPU: its threads (0, the default: all)");
  command.add_option("--bf16-products", arguments.bf16Products,
                     "On the CPU: how it multiplies bf16 matrices, native, or widened to f32 in tiles (where it can: "
                     "native)");
  addNumber(command, "--gpu", arguments.gpu, "On a GPU: which, among those that the driver sees (0)");
  command.add_option("--launch", arguments.launch,
                     "On a GPU: graph (default, a step is one launch) or eager (instruction by instruction, for "
                     "debugging)");
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
  if (arguments.launch.empty() || arguments.launch == "graph")
    mode = cuda::LaunchMode::Graph;
  else if (arguments.launch == "eager")
    mode = cuda::LaunchMode::Eager;
  else
    return error(StatusCode::InvalidUsage, "--launch: expected graph or eager, got {}", arguments.launch);
  int ordinal = arguments.gpu.value_or(0);
  if (ordinal < 0)
    return error(StatusCode::InvalidUsage, "--gpu: expected 0 or more, got {}", ordinal);
  if (!arguments.products.empty())
    QRT_RETURN_IF_ERROR(checkReadable(arguments.products).withContext("--products"));
  StatusOr<std::unique_ptr<Device>> device = cuda::createCudaDevice({.ordinal = ordinal,
                                                                     .launch = mode,
                                                                     .poison = arguments.poison,
                                                                     .cacheFolder = cacheFolder(),
                                                                     .products = arguments.products});
  if (!device.ok())
    return Status(device.status())
        .withContext(fmt::format("{} is compiled for {}", program.source(), program.target()));
  return device;
#else
  return error(StatusCode::Unsupported,
               "{} is compiled for {}, but this qrun was built without the CUDA backend: with CUDA toolkit 13, or what "
               "`tools/setup.sh --cuda` installs of it, configure and build it again",
               program.source(), program.target());
#endif
}

/// Options of another device than the program's are not ignored: who gives one expects it to do something.
static Status checkDeviceOptions(const Program &program, const DeviceArguments &arguments) {
  const bool forCpu = program.target() == "cpu";
  struct {
    const char *option;
    bool ofCpu, given;
  } const options[] = {{"--threads", true, arguments.threads.has_value()},
                       {"--bf16-products", true, !arguments.bf16Products.empty()},
                       {"--gpu", false, arguments.gpu.has_value()},
                       {"--launch", false, !arguments.launch.empty()},
                       {"--products", false, !arguments.products.empty()}};
  for (auto [option, ofCpu, given] : options)
    if (given && ofCpu != forCpu)
      return error(StatusCode::InvalidUsage, "{}: only programs for {} take it, {} is compiled for {}{}", option,
                   ofCpu ? "the CPU" : "GPUs", program.source(), program.target(),
                   ofCpu ? "" : "; `--target sm_90a` compiles for GPUs");
  return Status();
}

StatusOr<std::unique_ptr<Device>> openDevice(const Program &program, const DeviceArguments &arguments) {
  QRT_RETURN_IF_ERROR(checkDeviceOptions(program, arguments));
  if (program.target() != "cpu")
    return openGpu(program, arguments);
  QRT_RETURN_IF_ERROR(setBf16Products(arguments.bf16Products));
  int threads = arguments.threads.value_or(0);
  // Far beyond any machine's, and few enough that the system can start them.
  constexpr int kMostThreads = 1024;
  if (threads < 0 || threads > kMostThreads)
    return error(StatusCode::InvalidUsage, "--threads: expected 0 to {}, got {}", kMostThreads, threads);
  return cpu::createCpuDevice({.threads = threads, .poison = arguments.poison});
}

} // namespace qrt
