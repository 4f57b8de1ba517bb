// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/gpu/DeviceHarness.h"

#include "runtime/backends/cuda/CompileDeviceCode.h"
#include "runtime/backends/cuda/DeviceSources.h"
#include "runtime/base/CacheFolder.h"

#include <cstdlib>

namespace qrt::cuda::test {
namespace {

/// The most that an element of bf16 changes, relative to it, when its last bit rounds the other way.
constexpr double kBf16Unit = 0x1p-7;

/// How much worse than the whole a row may be. Rounding errors of neighbours are independent: of a row of many elements
/// they add up to 1.5 times the mean row's at most, of a million rows of one element to 5 times. Rows that are larger
/// than the mean are measured by their own norm.
constexpr double kRowFactor = 10;

using MakePlan = std::function<Status(std::span<const Tensor>, KernelPlan &)>;

/// Runs once, from fresh copies; false with a test failure where it cannot.
bool runOnce(const std::vector<HostTensor *> &given, const std::vector<ArgEffect> &effects, const MakePlan &makePlan,
             std::string_view name, std::vector<HostTensor> &args, std::vector<std::byte> *workspaceLeft = nullptr) {
  Gpu &device = gpu();
  std::vector<DeviceMemory> memory;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) {
      tensors.emplace_back();
      args.emplace_back();
      continue;
    }
    HostTensor &tensor = args.emplace_back(*given[i]);
    if (effects[i] == ArgEffect::Write)
      tensor.poison();
    StatusOr<DeviceMemory> allocated = device.allocate(static_cast<int64_t>(tensor.bytes().size()));
    require(allocated.status());
    require(device.write(allocated->data(), tensor.bytes()));
    tensors.push_back({tensor.shape(), allocated->data()});
    memory.push_back(*std::move(allocated));
  }
  KernelPlan measured(1 << 20);
  if (Status status = makePlan(tensors, measured); !status.ok()) {
    ADD_FAILURE() << status.message();
    return false;
  }
  StatusOr<DeviceMemory> workspace = device.allocate(measured.workspaceBytes());
  require(workspace.status());
  require(device.fill(workspace->data(), 0xFF, measured.workspaceBytes()));
  KernelPlan plan(workspace->data());
  require(makePlan(tensors, plan));
  StatusOr<PreparedWorks> works = PreparedWorks::prepare(deviceWorks(), plan.works());
  require(works.status());
  require(works->launch(deviceWorks(), device.stream()));
  require(device.synchronize().withContext(std::string(name)));
  size_t next = 0;
  for (HostTensor &tensor : args)
    if (tensor.tensor())
      require(device.read(memory[next++].data(), tensor.bytes()));
  if (workspaceLeft) {
    workspaceLeft->resize(static_cast<size_t>(measured.workspaceBytes()));
    require(device.read(workspace->data(), *workspaceLeft));
  }
  return true;
}

CubinCache &cubins() {
  static CubinCache cache(cacheFolder());
  return cache;
}

/// Plans and compiles what is launched; zeros for what would be written.
std::vector<HostTensor> compilePlan(const std::vector<HostTensor *> &given, const std::vector<ArgEffect> &effects,
                                    const MakePlan &makePlan) {
  constexpr DevicePtr kBase = DevicePtr{1} << 40;
  std::vector<Tensor> tensors;
  std::vector<HostTensor> args;
  for (size_t i = 0; i < given.size(); ++i) {
    tensors.push_back(given[i] ? Tensor{given[i]->shape(), kBase * (i + 1)} : Tensor());
    args.push_back(given[i] ? *given[i] : HostTensor());
    if (given[i] && effects[i] == ArgEffect::Write)
      args[i].fill(std::vector<double>(static_cast<size_t>(args[i].elements()), 0.0));
  }
  KernelPlan plan(kBase / 2);
  require(makePlan(tensors, plan));
  for (const DeviceWork &work : plan.works())
    if (const DeviceLaunch *launch = std::get_if<DeviceLaunch>(&work))
      require(compileDeviceCode(cubins(), launch->source, launch->function, "sm_90a").status());
  return args;
}

std::vector<HostTensor> runTwice(const std::vector<HostTensor *> &args, const std::vector<ArgEffect> &effects,
                                 const MakePlan &plan, std::string_view name) {
  if (compileOnly())
    return compilePlan(args, effects, plan);
  std::vector<HostTensor> first, second;
  if (!runOnce(args, effects, plan, name, first) || !runOnce(args, effects, plan, name, second))
    return first;
  for (size_t i = 0; i < first.size(); ++i) {
    if (!args[i])
      continue;
    EXPECT_TRUE(first[i].gapsIntact()) << name << " wrote between the rows of argument " << i;
    EXPECT_TRUE(first[i].bytes() == second[i].bytes()) << name << ": argument " << i << " differs between two runs";
    if (effects[i] == ArgEffect::Read)
      EXPECT_TRUE(first[i].bytes() == args[i]->bytes()) << name << " changed argument " << i;
  }
  return first;
}

} // namespace

void require(const Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  std::exit(1);
}

Gpu &gpu() {
  static std::unique_ptr<Gpu> opened = [] {
    StatusOr<std::unique_ptr<Gpu>> result = Gpu::open(0);
    require(result.ok() ? Status() : result.status());
    return *std::move(result);
  }();
  return *opened;
}

WorkContext deviceWorks() {
  static KernelModules modules(
      gpu().driver(), [](std::string_view source, const std::string &function) -> StatusOr<DeviceCode> {
        QRT_ASSIGN_OR_RETURN(Cubin cubin, compileDeviceCode(cubins(), source, function, "sm_90a"));
        return DeviceCode{std::move(cubin.symbol), std::move(cubin.image)};
      });
  return gpu().works(modules);
}

bool compileOnly() {
  static const bool only = std::getenv("QCC_COMPILE_ONLY") != nullptr;
  return only;
}

std::vector<HostTensor> runOnDevice(const KernelCall &call) {
  std::vector<ArgEffect> effects = call.effects();
  return runTwice(
      call.args, effects,
      [&](std::span<const Tensor> tensors, KernelPlan &plan) {
        DeviceLimits limits = compileOnly() ? DeviceLimits{} : gpu().limits();
        return planKernel({call.kernel, tensors, effects, call.params, call.bucket, limits, call.expressionOrNull()},
                          plan);
      },
      kernelInfo(call.kernel).name);
}

std::vector<HostTensor> runOnDevice(const std::vector<HostTensor *> &tensors, const std::vector<size_t> &results,
                                    const MakePlan &plan) {
  std::vector<ArgEffect> effects(tensors.size(), ArgEffect::Read);
  for (size_t i : results)
    effects[i] = ArgEffect::Write;
  return runTwice(tensors, effects, plan, "plan");
}

std::vector<std::vector<HostTensor>>
runOnDevice(const std::vector<KernelCall> &calls,
            const std::function<Status(std::span<const Call>, KernelPlan &)> &makePlan) {
  std::vector<HostTensor *> tensors;
  std::vector<ArgEffect> effects;
  // Of each call, where its arguments are among the tensors.
  std::vector<std::vector<size_t>> places;
  for (const KernelCall &call : calls) {
    std::vector<size_t> &ofCall = places.emplace_back();
    for (size_t i = 0; i < call.args.size(); ++i) {
      auto found = call.args[i] ? std::find(tensors.begin(), tensors.end(), call.args[i]) : tensors.end();
      ofCall.push_back(static_cast<size_t>(found - tensors.begin()));
      if (found == tensors.end()) {
        tensors.push_back(call.args[i]);
        effects.push_back(call.effects()[i]);
      }
    }
  }
  std::vector<HostTensor> left = runTwice(
      tensors, effects,
      [&](std::span<const Tensor> given, KernelPlan &plan) {
        DeviceLimits limits = compileOnly() ? DeviceLimits{} : gpu().limits();
        std::vector<std::vector<Tensor>> args;
        std::vector<std::vector<ArgEffect>> ofArgs;
        for (const std::vector<size_t> &ofCall : places) {
          args.emplace_back(), ofArgs.emplace_back();
          for (size_t place : ofCall)
            args.back().push_back(given[place]), ofArgs.back().push_back(effects[place]);
        }
        std::vector<Call> planned;
        for (size_t i = 0; i < calls.size(); ++i)
          planned.push_back({calls[i].kernel, args[i], ofArgs[i], calls[i].params, calls[i].bucket, limits});
        return makePlan(planned, plan);
      },
      kernelInfo(calls[0].kernel).name);
  std::vector<std::vector<HostTensor>> results;
  for (const std::vector<size_t> &ofCall : places) {
    results.emplace_back();
    for (size_t place : ofCall)
      results.back().push_back(left[place]);
  }
  return results;
}

std::vector<std::byte> workspaceOnDevice(const KernelCall &call) {
  std::vector<HostTensor> args;
  std::vector<std::byte> workspace;
  if (compileOnly()) {
    runOnDevice(call);
    return workspace;
  }
  std::vector<ArgEffect> effects = call.effects();
  runOnce(
      call.args, effects,
      [&](std::span<const Tensor> tensors, KernelPlan &plan) {
        return planKernel({call.kernel, tensors, effects, call.params, call.bucket, gpu().limits()}, plan);
      },
      kernelInfo(call.kernel).name, args, &workspace);
  return workspace;
}

TestFunctions::TestFunctions(std::string_view code)
    : find_([code](std::string_view, const std::string &function) -> StatusOr<DeviceCode> {
        QRT_ASSIGN_OR_RETURN(Cubin cubin, cubins().compile(deviceSources(), std::string(code), function, "sm_90a"));
        QRT_ASSIGN_OR_RETURN(DeviceCodeReport report, readReport(cubin));
        if (!report.warnings.empty())
          return error(StatusCode::InvalidData, "{}: {}", function, report.warnings[0]);
        return DeviceCode{std::move(cubin.symbol), std::move(cubin.image)};
      }) {
  if (!compileOnly()) // the GPU must outlive the modules
    modules_.emplace(gpu().driver(), find_);
}

Status TestFunctions::launch(const DeviceLaunch &launch) {
  if (compileOnly()) {
    require(find_("", launch.function).status());
    return Status();
  }
  StatusOr<PreparedLaunch> prepared = PreparedLaunch::prepare(gpu().driver(), *modules_, launch);
  require(prepared.status());
  QRT_RETURN_IF_ERROR(prepared->launch(gpu().driver(), gpu().stream()));
  return gpu().synchronize().withContext(launch.function);
}

uint32_t testSeed() {
  static const uint32_t seed = [] {
    const char *given = std::getenv("QCC_SEED");
    uint32_t value = given ? static_cast<uint32_t>(std::strtoul(given, nullptr, 10)) : std::random_device()();
    std::printf("QCC_SEED=%u\n", value);
    return value;
  }();
  return seed;
}

double sameStorageBound(const HostTensor &expected, double f32) {
  if (expected.shape().dtype != DType::BF16)
    return f32;
  double norm = 0, largest = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    double value = std::abs(expected.get(i));
    norm += value * value;
    largest = std::max(largest, value);
  }
  return 5e-4 + (norm > 0 ? kBf16Unit * largest / std::sqrt(norm) : 0);
}

void expectNear(const HostTensor &got, const std::vector<double> &expected, double bound, const std::string &what) {
  ASSERT_EQ(got.elements(), static_cast<int64_t>(expected.size())) << what;
  if (got.elements() == 0)
    return;
  const TensorShape &shape = got.shape();
  int64_t cols = shape.rank > 1 ? shape.dims[shape.rank - 1] : 1, rows = got.elements() / cols;
  std::vector<double> rowDifference(static_cast<size_t>(rows)), rowNorm(static_cast<size_t>(rows));
  double difference = 0, norm = 0, worst = -1;
  int64_t place = 0, notFinite = 0, firstNotFinite = -1;
  for (int64_t i = 0; i < got.elements(); ++i) {
    double value = got.get(i), wanted = expected[static_cast<size_t>(i)];
    if (!std::isfinite(value)) {
      if (notFinite++ == 0)
        firstNotFinite = i;
      continue;
    }
    double d = std::abs(value - wanted);
    rowDifference[static_cast<size_t>(i / cols)] += d * d;
    rowNorm[static_cast<size_t>(i / cols)] += wanted * wanted;
    if (d > worst)
      worst = d, place = i;
  }
  for (size_t r = 0; r < rowNorm.size(); ++r)
    difference += rowDifference[r], norm += rowNorm[r];
  auto where = [&](int64_t index) {
    std::string text;
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
      text = fmt::format("{}{}{}", index % shape.dims[axis], text.empty() ? "" : ", ", text);
      index /= shape.dims[axis];
    }
    return "[" + text + "]";
  };
  EXPECT_EQ(notFinite, 0) << what << ": " << notFinite << " of " << got.elements()
                          << " elements are not finite, the first at " << where(firstNotFinite);
  double error = norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
  EXPECT_LE(error, bound) << what << ": the largest difference is at " << where(place) << ": " << got.get(place)
                          << " for " << expected[static_cast<size_t>(place)];
  double rowBound = std::max(kRowFactor * bound, shape.dtype == DType::BF16 && bound > 0 ? kBf16Unit : 0.0);
  double mean = std::sqrt(norm / static_cast<double>(rows));
  int64_t wrong = 0, first = -1;
  for (int64_t r = 0; r < rows; ++r) {
    double scale = std::max(std::sqrt(rowNorm[static_cast<size_t>(r)]), mean);
    if (std::sqrt(rowDifference[static_cast<size_t>(r)]) > rowBound * scale && wrong++ == 0)
      first = r;
  }
  if (norm > 0 && wrong > 0)
    ADD_FAILURE() << what << ": " << wrong << " of " << rows << " rows are off by more than " << rowBound
                  << " of their norm and the rows' mean norm, the first at " << where(first * cols) << ": off by "
                  << std::sqrt(rowDifference[static_cast<size_t>(first)]) << " of "
                  << std::sqrt(rowNorm[static_cast<size_t>(first)]) << ", mean " << mean;
}

} // namespace qrt::cuda::test
