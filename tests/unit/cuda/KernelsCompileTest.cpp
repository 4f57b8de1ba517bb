// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every device function that a kernel of the catalog launches, compiled as `qcc build` does, on a machine without a
// GPU: hot ones spill no register, none has a warning of lost speed, each fits its launches, and all can be launched
// while the works before them still run.
#include "runtime/backends/cuda/CompileDeviceCode.h"
#include "runtime/backends/cuda/DeviceCode.h"
#include "runtime/backends/cuda/device/Types.h"
#include "runtime/base/File.h"
#include "runtime/kernels/Signature.h"
#include "tests/unit/cuda/CatalogCalls.h"
#include "tests/unit/cuda/MachineCode.h"

#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <thread>

namespace qrt::cuda::test {
namespace {

constexpr std::string_view kArchitecture = "sm_90a";

/// A device function as the plans launch it.
struct Function {
  std::string source, name;
  /// Launched by a bf16 call of a published size.
  bool hot = false;
  /// The most threads and bytes of shared memory that a launch asks for.
  int64_t threads = 0, sharedBytes = 0;
  /// A call that launches it, a hot one if there is any.
  std::string example;
};

/// All functions by source and name; failed plans are failures of the test.
class Functions {
public:
  void add(const KernelPlan &plan, bool hot, const std::function<std::string()> &example) {
    for (const DeviceWork &work : plan.works()) {
      const auto *launch = std::get_if<DeviceLaunch>(&work);
      if (!launch)
        continue;
      Function &function = functions_[{std::string(launch->source), launch->function}];
      if (function.name.empty() || (hot && !function.hot)) {
        function.source = launch->source;
        function.name = launch->function;
        function.example = example();
      }
      function.hot = function.hot || hot;
      function.threads = std::max(function.threads, int64_t{launch->block.x} * launch->block.y * launch->block.z);
      function.sharedBytes = std::max(function.sharedBytes, int64_t{launch->sharedBytes});
    }
  }

  std::vector<Function> list() const {
    std::vector<Function> list;
    for (const auto &[key, function] : functions_)
      list.push_back(function);
    return list;
  }

private:
  std::map<std::pair<std::string, std::string>, Function> functions_;
};

constexpr DevicePtr kWorkspace = DevicePtr{1} << 62;

void addCatalog(Functions &functions) {
  for (int kernel = 0; kernel < kNumKernels; ++kernel)
    for (const ModelWidths &model : modelWidths()) {
      int64_t planned = 0;
      forEachCall(static_cast<Kernel>(kernel), model, [&](const CatalogCall &call) {
        KernelPlan plan(kWorkspace);
        Status status = planKernel(
            {call.kernel, call.args, call.effects, call.params, call.bucket, {}, call.expressionOrNull()}, plan);
        EXPECT_TRUE(status.ok()) << call.print() << ": " << status.message();
        functions.add(plan, model.published && call.md == DType::BF16, [&] { return call.print(); });
        ++planned;
      });
      EXPECT_GT(planned, 0) << kernelInfo(static_cast<Kernel>(kernel)).name << " of " << model.name;
    }
}

/// Copies and zeros between tensors whose places allow units of 16, 8, 4 and 2 bytes.
void addCopies(Functions &functions) {
  for (int64_t gap : {8, 4, 2, 1}) {
    Tensor source{denseShape(DType::BF16, std::array<int64_t, 2>{1000, 64}), DevicePtr{1} << 40}, target = source;
    source.shape.strides[0] += gap;
    target.shape.strides[0] += 2 * gap;
    target.data *= 2;
    KernelPlan plan(kWorkspace);
    EXPECT_TRUE(planCopy(source, target, plan).ok());
    EXPECT_TRUE(planZero(source, plan).ok());
    functions.add(plan, true, [&] { return fmt::format("a copy of rows {} bf16 apart", 64 + gap); });
  }
}

const std::vector<Function> &allFunctions() {
  static const std::vector<Function> list = [] {
    Functions functions;
    addCatalog(functions);
    addCopies(functions);
    return functions.list();
  }();
  return list;
}

struct Compiled {
  Status status, waits;
  DeviceCodeReport report;
};

/// On all cores; the order of the result is that of the functions.
std::vector<Compiled> compile(std::span<const Function> functions) {
  std::vector<Compiled> results(functions.size());
  std::atomic<size_t> next = 0;
  std::atomic<int64_t> compiled = 0;
  auto work = [&] {
    CubinCache cache(QCC_CUBIN_FOLDER);
    for (size_t i = next++; i < functions.size(); i = next++) {
      auto compileOne = [&]() -> Status {
        QRT_ASSIGN_OR_RETURN(Cubin cubin,
                             compileDeviceCode(cache, functions[i].source, functions[i].name, kArchitecture));
        QRT_RETURN_IF_ERROR(checkImage(functions[i].name, cubin.image));
        QRT_ASSIGN_OR_RETURN(results[i].report, readReport(cubin));
        results[i].waits = checkAwaitsEarlierGrids(cubin);
        return Status();
      };
      results[i].status = compileOne();
    }
    compiled += cache.compiled();
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back(work);
  for (std::thread &thread : threads)
    thread.join();
  std::printf("%zu device functions, %lld compiled, the others from the cache\n", functions.size(),
              static_cast<long long>(compiled));
  return results;
}

/// Registers of a block: a warp gets them in units of 256.
int64_t blockRegisters(const Function &function, const DeviceCodeReport &report) {
  int64_t warps = (function.threads + 31) / 32;
  return warps * ((report.registers * 32 + 255) / 256 * 256);
}

std::string table(std::span<const Function> functions, std::span<const Compiled> compiled) {
  std::string text = fmt::format("{:<70} {:>4} {:>7} {:>9} {:>7} {:>7} {:>6} {:>4}  {}\n", "device function", "hot",
                                 "threads", "registers", "shared", "static", "stack", "spill", "launched by");
  for (size_t i = 0; i < functions.size(); ++i) {
    const Function &function = functions[i];
    const DeviceCodeReport &report = compiled[i].report;
    text += fmt::format("{:<70} {:>4} {:>7} {:>9} {:>7} {:>7} {:>6} {:>5}  {}\n",
                        fmt::format("{}: {}", function.source.substr(0, function.source.find('.')), function.name),
                        function.hot ? "hot" : "", function.threads, report.registers, function.sharedBytes,
                        report.sharedBytes, report.stackBytes, report.spillStoreBytes + report.spillLoadBytes,
                        function.example);
  }
  return text;
}

TEST(CudaKernels, EveryCallOfTheCatalogHasAPlan) { EXPECT_FALSE(allFunctions().empty()); }

TEST(CudaKernels, CompileWithoutSpillsAndWarnings) {
  std::span<const Function> functions = allFunctions();
  std::vector<Compiled> compiled = compile(functions);
  ASSERT_TRUE(writeFileAtomically(QCC_KERNEL_TABLE, table(functions, compiled)).ok());
  std::printf("registers, shared memory and spills of each: %s\n", QCC_KERNEL_TABLE);
  for (size_t i = 0; i < functions.size(); ++i) {
    const Function &function = functions[i];
    const auto &[status, waits, report] = compiled[i];
    SCOPED_TRACE(fmt::format("{} of {}, launched by {}", function.name, function.source, function.example));
    EXPECT_TRUE(status.ok()) << status.message();
    if (!status.ok())
      continue;
    EXPECT_TRUE(waits.ok()) << waits.message();
    for (const std::string &warning : report.warnings)
      ADD_FAILURE() << warning;
    if (function.hot)
      EXPECT_EQ(report.spillStoreBytes + report.spillLoadBytes, 0) << "bytes of registers spilled";
    EXPECT_LE(blockRegisters(function, report), 65536) << "registers of a block of " << function.threads;
    EXPECT_LE(function.sharedBytes + report.sharedBytes, device::kMaxSharedBytes) << "bytes of shared memory";
  }
}

} // namespace
} // namespace qrt::cuda::test
