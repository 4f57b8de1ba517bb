// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/nvrtc/Nvrtc.h"

#include "runtime/base/CudaLibrary.h"

namespace qrt {

using NvrtcProgram = struct NvrtcProgramOpaque *;

struct Nvrtc::Functions {
#define QRT_NVRTC(name, ...) std::add_pointer_t<__VA_ARGS__> name;
#include "runtime/nvrtc/NvrtcApi.def"

  Status load() {
    QRT_ASSIGN_OR_RETURN(DynamicLibrary library,
                         openCudaLibrary("NVRTC, which compiles kernels for GPUs", "libnvrtc.so.13", "QCC_NVRTC_DIR",
                                         "tools/cuda_wheels.sh"));
#define QRT_NVRTC(name, ...)                                                                                           \
  {                                                                                                                    \
    QRT_ASSIGN_OR_RETURN(void *address, library.symbol(#name));                                                        \
    name = reinterpret_cast<decltype(name)>(address);                                                                  \
  }
#include "runtime/nvrtc/NvrtcApi.def"
    // NVRTC opens its built-in functions by file name alone, which the loader does not look for beside NVRTC itself,
    // but finds once they are open. Where they are missing it says so with every compilation.
    if (size_t slash = library.name().rfind('/'); slash != std::string::npos)
      (void)DynamicLibrary::open(
          "NVRTC's built-in functions",
          {fmt::format("{}/libnvrtc-builtins.so.{}", library.name().substr(0, slash), version())})
          .ok();
    return Status();
  }

  std::string version() const {
    int major = 0, minor = 0;
    nvrtcVersion(&major, &minor);
    return fmt::format("{}.{}", major, minor);
  }
};

StatusOr<const Nvrtc *> Nvrtc::open() {
  struct Opened {
    Functions functions;
    Nvrtc nvrtc;
    Status status;

    Opened() : status(functions.load()) { nvrtc.functions_ = &functions; }
  };
  static const Opened opened;
  if (!opened.status.ok())
    return opened.status;
  return &opened.nvrtc;
}

std::string Nvrtc::version() const { return functions_->version(); }

std::vector<std::string> nvrtcOptions(std::string_view architecture) {
  // The seed of names that NVRTC makes up: else the number of the process, and a program's bytes with it.
  return {fmt::format("--gpu-architecture={}", architecture), "--std=c++17", "-default-device", "--frandom-seed=qcc",
          "--ptxas-options=-v"};
}

StatusOr<Cubin> Nvrtc::compile(std::span<const SourceFile> files, const std::string &main,
                               const std::string &expression, std::string_view architecture) const {
  const Functions &f = *functions_;
  std::vector<std::string> names, texts;
  for (const SourceFile &file : files) {
    names.emplace_back(file.name);
    texts.emplace_back(file.text);
  }
  std::vector<const char *> namePointers, textPointers;
  for (size_t i = 0; i < files.size(); ++i) {
    namePointers.push_back(names[i].c_str());
    textPointers.push_back(texts[i].c_str());
  }
  NvrtcProgram program = nullptr;
  if (int result = f.nvrtcCreateProgram(&program, main.c_str(), "main.cu", static_cast<int>(files.size()),
                                        textPointers.data(), namePointers.data()))
    return error(StatusCode::Unsupported, "NVRTC: {}", f.nvrtcGetErrorString(result));
  struct Destroy {
    const Functions &f;
    NvrtcProgram program;
    ~Destroy() { f.nvrtcDestroyProgram(&program); }
  } destroy{f, program};

  if (int result = f.nvrtcAddNameExpression(program, expression.c_str()))
    return error(StatusCode::Unsupported, "NVRTC: {}: {}", expression, f.nvrtcGetErrorString(result));
  std::vector<std::string> options = nvrtcOptions(architecture);
  std::vector<const char *> optionPointers;
  for (const std::string &option : options)
    optionPointers.push_back(option.c_str());
  int compiled = f.nvrtcCompileProgram(program, static_cast<int>(optionPointers.size()), optionPointers.data());

  Cubin cubin;
  size_t size = 0;
  if (f.nvrtcGetProgramLogSize(program, &size) == 0 && size > 1) {
    cubin.log.resize(size);
    f.nvrtcGetProgramLog(program, cubin.log.data());
    cubin.log.resize(size - 1);
  }
  if (compiled)
    return error(StatusCode::InvalidData, "{} does not compile for {}: {}\n{}", expression, architecture,
                 f.nvrtcGetErrorString(compiled), cubin.log);
  const char *symbol = nullptr;
  if (int result = f.nvrtcGetLoweredName(program, expression.c_str(), &symbol))
    return error(StatusCode::Unsupported, "NVRTC: {}: {}", expression, f.nvrtcGetErrorString(result));
  cubin.symbol = symbol;
  if (int result = f.nvrtcGetCUBINSize(program, &size); result || size == 0)
    return error(StatusCode::Unsupported, "NVRTC: {}: no machine code for {}: {}", expression, architecture,
                 f.nvrtcGetErrorString(result));
  cubin.image.resize(size);
  if (int result = f.nvrtcGetCUBIN(program, reinterpret_cast<char *>(cubin.image.data())))
    return error(StatusCode::Unsupported, "NVRTC: {}: {}", expression, f.nvrtcGetErrorString(result));
  return cubin;
}

} // namespace qrt
