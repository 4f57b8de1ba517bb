// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bench-cuda [PART]: a line for each benchmark whose label contains PART. Exit codes: 0 done, 1 no GPU, 2 no such
// label.
#include "runtime/backends/cuda/Graph.h"
#include "runtime/backends/cuda/MeasureRates.h"
#include "runtime/backends/cuda/RandomFill.h"
#include "tests/gpu/DeviceHarness.h"
#include "tools/bench/cuda/Bench.h"

#include <algorithm>
#include <cstdio>

using namespace qrt;
using namespace qrt::cuda;
using namespace qrt::cuda::bench;
using cuda::test::require;

namespace {

constexpr int64_t kRotatedBytes = int64_t{400} << 20;
constexpr int kReplays = 30;
/// Calls that a graph has at least, for starting it takes time too.
constexpr int64_t kCalls = 8;

/// Memory with one random block repeated: what a kernel takes does not depend on more.
void randomFill(Gpu &gpu, DevicePtr data, int64_t bytes, const ArgSpec &spec, std::mt19937 &random) {
  int64_t elements = std::min<int64_t>(bytes / byteSize(spec.dtype), int64_t{1} << 21);
  cpu::test::HostTensor block(spec.dtype, {elements});
  if (spec.dtype == DType::F32 || spec.dtype == DType::BF16) {
    block.randomize(random, spec.scale, spec.mean);
  } else {
    for (int64_t i = 0; i < elements; ++i)
      block.set(i, static_cast<double>(random() % static_cast<uint64_t>(spec.below)));
  }
  size_t blockBytes = static_cast<size_t>(elements * byteSize(spec.dtype));
  require(fillRepeating(gpu, data, bytes, std::span(block.bytes()).first(blockBytes)));
}

struct Set {
  std::vector<DeviceMemory> memory;
  std::vector<Tensor> tensors;
  DeviceMemory workspace;
  PreparedWorks works;
  std::vector<PreparedWorks> eachWork;
};

/// Median milliseconds of a graph of what `record` puts on the stream.
template <typename Record> double timeGraph(Gpu &gpu, Record record) {
  constexpr int kWarm = 3;
  Graph graph;
  require(graph.capture(test::deviceWorks(), gpu.stream(), record));
  Events events(gpu.driver());
  require(events.create(2));
  std::vector<double> times;
  for (int i = 0; i < kWarm + kReplays; ++i) {
    require(events.record(0, gpu.stream()));
    require(graph.launch(gpu.stream()));
    require(events.record(1, gpu.stream()));
    require(gpu.synchronize());
    StatusOr<double> milliseconds = events.elapsed(0, 1);
    require(milliseconds.status());
    if (i >= kWarm)
      times.push_back(*milliseconds);
  }
  std::nth_element(times.begin(), times.begin() + kReplays / 2, times.end());
  return times[kReplays / 2];
}

void run(Gpu &gpu, const Benchmark &benchmark, double copyRate) {
  std::mt19937 random(1);
  const KernelInfo &info = kernelInfo(benchmark.kernel);
  std::vector<TensorShape> shapes(benchmark.args.size());
  std::vector<std::optional<TensorShape>> given(benchmark.args.size());
  std::vector<ArgEffect> effects =
      cpu::test::callEffects(benchmark.kernel, benchmark.args.size(), benchmark.accumulate);
  std::vector<int64_t> bytes(benchmark.args.size());
  int64_t total = 0, moved = 0;
  cpu::test::HostTensor table;
  for (size_t i = 0; i < benchmark.args.size(); ++i) {
    if (!benchmark.args[i])
      continue;
    ArgSpec spec = *benchmark.args[i];
    if (info.arg(i).type == "docs") {
      std::vector<int64_t> trained(static_cast<size_t>(benchmark.bucket.trained));
      for (size_t r = 0; r < trained.size(); ++r)
        trained[r] = static_cast<int64_t>(r) * benchmark.bucket.tokens / benchmark.bucket.trained;
      table = cpu::test::segmentTable(benchmark.bucket, benchmark.lengths, trained);
      shapes[i] = table.shape();
      bytes[i] = static_cast<int64_t>(table.bytes().size());
    } else {
      shapes[i] = denseShape(spec.dtype, spec.dims);
      if (spec.rowStride)
        shapes[i].strides[0] = spec.rowStride;
      if (spec.headStride)
        shapes[i].strides[1] = spec.headStride;
      bytes[i] = spec.dims.empty() ? byteSize(spec.dtype)
                                   : spec.dims[0] * std::max<int64_t>(shapes[i].strides[0], 1) * byteSize(spec.dtype);
      moved += shapes[i].elements() * byteSize(spec.dtype) * (effects[i] == ArgEffect::InOut ? 2 : 1);
    }
    given[i] = shapes[i];
    total += bytes[i];
  }
  if (benchmark.bytes)
    moved = benchmark.bytes;
  int64_t copies = std::clamp<int64_t>(kRotatedBytes / std::max<int64_t>(total, 1), 1, 40);
  std::vector<Set> sets(static_cast<size_t>(copies));
  size_t launches = 0;
  std::vector<DeviceWork> timedWorks;
  for (Set &set : sets) {
    for (size_t i = 0; i < benchmark.args.size(); ++i) {
      if (!benchmark.args[i]) {
        set.tensors.emplace_back();
        continue;
      }
      StatusOr<DeviceMemory> memory = gpu.allocate(bytes[i]);
      require(memory.status());
      if (info.arg(i).type == "docs")
        require(gpu.write(memory->data(), table.bytes()));
      else
        randomFill(gpu, memory->data(), bytes[i], *benchmark.args[i], random);
      set.tensors.push_back({shapes[i], memory->data()});
      set.memory.push_back(*std::move(memory));
    }
    Call call{benchmark.kernel, set.tensors, effects, benchmark.params, benchmark.bucket, gpu.limits()};
    KernelPlan measured(1 << 20);
    require(planKernel(call, measured));
    StatusOr<DeviceMemory> workspace = gpu.allocate(measured.workspaceBytes());
    require(workspace.status());
    set.workspace = *std::move(workspace);
    KernelPlan plan(set.workspace.data());
    require(planKernel(call, plan));
    if (!benchmark.only.empty()) {
      // A work alone reads what those before it leave.
      StatusOr<PreparedWorks> whole = PreparedWorks::prepare(cuda::test::deviceWorks(), plan.works());
      require(whole.status());
      require(whole->launch(cuda::test::deviceWorks(), gpu.stream()));
      require(gpu.synchronize());
    }
    std::vector<DeviceWork> timed;
    for (const DeviceWork &work : plan.works()) {
      const DeviceLaunch *launch = std::get_if<DeviceLaunch>(&work);
      if (benchmark.only.empty() || (launch && launch->function == benchmark.only))
        timed.push_back(work);
    }
    StatusOr<PreparedWorks> works = PreparedWorks::prepare(cuda::test::deviceWorks(), timed);
    require(works.status());
    set.works = *std::move(works);
    launches = timed.size();
    for (size_t i = 0; benchmark.eachWork && i < timed.size(); ++i) {
      StatusOr<PreparedWorks> one = PreparedWorks::prepare(cuda::test::deviceWorks(), std::span(timed).subspan(i, 1));
      require(one.status());
      set.eachWork.push_back(*std::move(one));
    }
    if (benchmark.eachWork)
      timedWorks = timed;
  }
  int64_t rounds = (kCalls + copies - 1) / copies;
  double ms = timeGraph(gpu,
                        [&]() -> Status {
                          for (int64_t round = 0; round < rounds; ++round)
                            for (Set &set : sets)
                              QRT_RETURN_IF_ERROR(set.works.launch(cuda::test::deviceWorks(), gpu.stream()));
                          return Status();
                        }) /
              static_cast<double>(copies * rounds);
  double flops =
      benchmark.flops == 0 ? kernelFlops(benchmark.kernel, given, benchmark.params, benchmark.bucket) : benchmark.flops;
  double rate = static_cast<double>(moved) / ms * 1e-9;
  std::printf("%-44s %9.1f us %6.0f GB/s %4.0f %% of copy", benchmark.label.c_str(), ms * 1e3, rate * 1e3,
              100 * rate / copyRate);
  if (flops > 0)
    std::printf(" %6.0f TFLOP/s", flops / ms * 1e-9);
  std::printf("  %zu works\n", launches);
  // Each finds what the works before it have left.
  for (size_t i = 0; i < timedWorks.size(); ++i) {
    double one = timeGraph(gpu,
                           [&]() -> Status {
                             for (int64_t round = 0; round < rounds; ++round)
                               for (Set &set : sets)
                                 QRT_RETURN_IF_ERROR(set.eachWork[i].launch(cuda::test::deviceWorks(), gpu.stream()));
                             return Status();
                           }) /
                 static_cast<double>(copies * rounds);
    const DeviceLaunch *launch = std::get_if<DeviceLaunch>(&timedWorks[i]);
    std::printf("  %-42s %9.1f us\n", launch ? launch->function.c_str() : "another work", one * 1e3);
  }
  std::fflush(stdout);
}

/// TB/s, read and written, as `qrun profile` measures them: on a stream. A copy that is a node of a graph goes through
/// the copy engines, at two thirds of that.
double measureCopy(Gpu &gpu) {
  constexpr int64_t kBytes = int64_t{8} << 30;
  StatusOr<DeviceMemory> scratch = gpu.allocate(kBytes);
  require(scratch.status());
  ExecutionTimes times;
  require(measureRates(gpu, test::deviceWorks(), DType::BF16, scratch->data(), kBytes, times));
  return times.copyRate * 1e-12;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<Benchmark> benchmarks;
  attentionBenchmarks(benchmarks);
  gatedDeltaInputsBenchmarks(benchmarks);
  gatedDeltaRuleBenchmarks(benchmarks);
  linearCrossEntropyBenchmarks(benchmarks);
  normBenchmarks(benchmarks);
  optimizerBenchmarks(benchmarks);
  rowCopiesBenchmarks(benchmarks);
  swigluBenchmarks(benchmarks);

  std::string_view part = argc == 2 ? argv[1] : "";
  auto chosen = [&](const Benchmark &benchmark) { return benchmark.label.find(part) != std::string::npos; };
  if (argc > 2 || std::none_of(benchmarks.begin(), benchmarks.end(), chosen)) {
    std::fprintf(stderr, "usage: bench-cuda [PART], a part of one of these labels:\n");
    for (const Benchmark &benchmark : benchmarks)
      std::fprintf(stderr, "  %s\n", benchmark.label.c_str());
    return 2;
  }

  Gpu &gpu = cuda::test::gpu();
  double copyRate = measureCopy(gpu);
  std::printf("%s, copy %.2f TB/s\n", gpu.name().c_str(), copyRate);
  for (const Benchmark &benchmark : benchmarks)
    if (chosen(benchmark))
      run(gpu, benchmark, copyRate);
  return 0;
}
