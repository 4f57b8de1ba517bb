// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/CudaDevice.h"

#include "runtime/backends/cuda/GemmTuner.h"
#include "runtime/backends/cuda/Graph.h"
#include "runtime/backends/cuda/MeasureRates.h"
#include "runtime/backends/cuda/PinnedMemory.h"
#include "runtime/backends/cuda/RandomFill.h"
#include "runtime/base/BlockedSignals.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

namespace qrt::cuda {
namespace {

/// The elements of a tensor one behind the other.
std::vector<std::byte> withoutGaps(const TensorShape &shape, std::span<const std::byte> strided) {
  int64_t size = byteSize(shape.dtype);
  std::vector<std::byte> dense(static_cast<size_t>(shape.elements() * size));
  for (int64_t index = 0; index < shape.elements(); ++index) {
    int64_t rest = index, offset = 0;
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
      offset += rest % shape.dims[axis] * shape.strides[axis];
      rest /= shape.dims[axis];
    }
    std::copy_n(strided.begin() + offset * size, size, dense.begin() + index * size);
  }
  return dense;
}

class CudaDevice;

class CudaExecutable final : public Executable {
public:
  CudaExecutable(CudaDevice &device, const Entry &entry) : device_(device), entry_(entry) {}

  Status build(const Program &program);
  Status run(Observer *observer) override;
  StatusOr<ExecutionTimes> time(double seconds) override;

private:
  Tensor tensorOf(int32_t slice) const;
  Status plan(const Program &program, const Instruction &instruction, KernelPlan &plan) const;
  Status launchAll(Observer *observer) const;
  Status copyIn() const;
  Status copyOut() const;
  Status notify(Observer &observer, size_t instruction) const;
  StatusOr<double> timeGemms(double seconds) const;

  CudaDevice &device_;
  const Entry &entry_;
  KernelModules *modules_ = nullptr;
  /// By instruction.
  std::vector<PreparedWorks> works_;
  Graph graph_;
  /// Indices of entry_.debug, by instruction.
  std::vector<uint32_t> debug_;
};

class CudaDevice final : public Device {
public:
  CudaDevice(std::unique_ptr<Gpu> gpu, const CudaDeviceOptions &options)
      : gpu_(std::move(gpu)), tuner_(*gpu_, options.cacheFolder), options_(options) {}

  std::string description() const override {
    return fmt::format("{}, cuBLASLt {}{}", gpu_->name(), gpu_->cublasLt().version(),
                       options_.launch == LaunchMode::Eager ? ", launched one by one" : "");
  }
  std::string bf16Description() const override { return "bf16 products on tensor cores, added in f32"; }
  bool runsTarget(std::string_view target) const override { return target == "sm_90a"; }
  int64_t memoryBytes() const override { return gpu_->totalBytes(); }

  Status reserve(const SpaceBytes &bytes) override {
    assert(!spaces_[0].data() && "the spaces are reserved once");
    for (int space = 0; space < kNumSpaces; ++space) {
      StatusOr<DeviceMemory> memory = gpu_->allocate(bytes[space]);
      if (!memory.ok())
        return std::move(memory).status().withContext(std::string(spaceName(static_cast<Space>(space))));
      spaces_[space] = *std::move(memory);
      if (options_.poison)
        QRT_RETURN_IF_ERROR(gpu_->fill(spaces_[space].data(), 0xFF, bytes[space]));
    }
    QRT_ASSIGN_OR_RETURN(io_, PinnedMemory::allocate(gpu_->driver(), bytes[static_cast<int>(Space::Io)]));
    if (options_.poison)
      std::memset(io_.data(), 0xFF, static_cast<size_t>(io_.bytes()));
    reserved_ = bytes;
    return Status();
  }
  const SpaceBytes &reserved() const override { return reserved_; }

  StatusOr<std::unique_ptr<Executable>> prepare(const Program &program, const Entry &entry) override {
    auto executable = std::make_unique<CudaExecutable>(*this, entry);
    QRT_RETURN_IF_ERROR(executable->build(program));
    return std::unique_ptr<Executable>(std::move(executable));
  }

  Status write(Space space, int64_t offset, std::span<const std::byte> bytes) override {
    if (space != Space::Io)
      return gpu_->write(at(space, offset), bytes);
    std::copy(bytes.begin(), bytes.end(), io_.data() + offset);
    return Status();
  }
  Status read(Space space, int64_t offset, std::span<std::byte> bytes) const override {
    if (space != Space::Io)
      return gpu_->read(at(space, offset), bytes);
    std::copy_n(io_.data() + offset, bytes.size(), bytes.begin());
    return Status();
  }
  Status zero(Space space, int64_t offset, int64_t bytes) override {
    if (space != Space::Io)
      return gpu_->fill(at(space, offset), 0, bytes);
    std::fill_n(io_.data() + offset, bytes, std::byte{0});
    return Status();
  }
  std::span<std::byte> io() override { return {io_.data(), static_cast<size_t>(io_.bytes())}; }

  DevicePtr at(Space space, int64_t offset) const {
    return spaces_[static_cast<int>(space)].data() + static_cast<DevicePtr>(offset);
  }
  Gpu &gpu() const { return *gpu_; }
  GemmTuner &tuner() { return tuner_; }
  const CudaDeviceOptions &options() const { return options_; }

  /// The device functions of a program, which outlives the device's executables.
  KernelModules &modulesOf(const Program &program) {
    std::unique_ptr<KernelModules> &modules = modules_[&program];
    if (!modules)
      modules = std::make_unique<KernelModules>(
          gpu_->driver(), [&program](std::string_view, const std::string &name) -> StatusOr<DeviceCode> {
            if (const DeviceFunction *function = program.findDeviceFunction(name))
              return DeviceCode{std::string(function->symbol), {function->image.begin(), function->image.end()}};
            return error(
                StatusCode::Unsupported,
                "{}: holds no machine code of {}: it was built by {}; build it again with the compiler of this "
                "version",
                program.source(), name, program.producer());
          });
    return *modules;
  }

  Status poisonForRun(const Entry &entry) {
    if (!options_.poison)
      return Status();
    const DeviceMemory &transient = spaces_[static_cast<int>(Space::Transient)];
    QRT_RETURN_IF_ERROR(gpu_->fill(transient.data(), 0xFF, transient.bytes()));
    for (int32_t index : entry.results)
      if (index >= 0) {
        const Slice &result = entry.slices[static_cast<size_t>(index)];
        std::memset(io_.data() + result.offset, 0xFF, static_cast<size_t>(result.end - result.offset));
      }
    return Status();
  }

private:
  std::unique_ptr<Gpu> gpu_;
  GemmTuner tuner_;
  CudaDeviceOptions options_;
  SpaceBytes reserved_{};
  DeviceMemory spaces_[kNumSpaces];
  /// The host's view of Space::Io.
  PinnedMemory io_;
  std::map<const Program *, std::unique_ptr<KernelModules>> modules_;
};

Tensor CudaExecutable::tensorOf(int32_t index) const {
  if (index < 0)
    return {};
  const Slice &slice = entry_.slices[static_cast<size_t>(index)];
  return {slice.shape, device_.at(slice.space, slice.offset)};
}

Status CudaExecutable::plan(const Program &program, const Instruction &instruction, KernelPlan &plan) const {
  if (const Gemm *gemm = std::get_if<Gemm>(&instruction.work)) {
    plan.gemm({tensorOf(gemm->a), tensorOf(gemm->b), tensorOf(gemm->c), gemm->transposeA, gemm->transposeB,
               gemm->accumulate});
    return Status();
  }
  if (const Copy *copy = std::get_if<Copy>(&instruction.work))
    return planCopy(tensorOf(copy->source), tensorOf(copy->target), plan);
  if (const Fill *fill = std::get_if<Fill>(&instruction.work))
    return planZero(tensorOf(fill->target), plan);
  const Launch &launch = std::get<Launch>(instruction.work);
  std::vector<Tensor> args;
  for (int32_t index : launch.slices)
    args.push_back(tensorOf(index));
  QRT_RETURN_IF_ERROR(
      planKernel({launch.kernel, args, launch.effects, launch.params, entry_.bucket, device_.gpu().limits()}, plan));
  int64_t workspace = 0;
  if (launch.workspace >= 0) {
    const Slice &slice = entry_.slices[static_cast<size_t>(launch.workspace)];
    workspace = slice.end - slice.offset;
  }
  if (plan.workspaceBytes() > workspace)
    return error(StatusCode::InvalidData,
                 "needs {} bytes of workspace, but the program gives it {}: it was built by {}", plan.workspaceBytes(),
                 workspace, program.producer());
  return Status();
}

Status CudaExecutable::build(const Program &program) {
  SpaceBytes needed{program.stateBytes(), 0, entry_.ioBytes, entry_.transientBytes};
  for (const Slice &slice : entry_.slices)
    if (slice.space == Space::Gradients)
      needed[static_cast<int>(Space::Gradients)] = program.gradientBytes();
  for (int space = 0; space < kNumSpaces; ++space)
    if (needed[space] > device_.reserved()[space])
      return error(StatusCode::ResourceExhausted, "{}: entry {} needs {} bytes of {}, but {} are reserved",
                   program.source(), entry_.name(), needed[space], spaceName(static_cast<Space>(space)),
                   device_.reserved()[space]);

  modules_ = &device_.modulesOf(program);
  WorkContext context = device_.gpu().works(*modules_);
  for (size_t i = 0; i < entry_.instructions.size(); ++i) {
    const Instruction &instruction = entry_.instructions[i];
    const Launch *launch = std::get_if<Launch>(&instruction.work);
    KernelPlan planned(launch && launch->workspace >= 0 ? tensorOf(launch->workspace).data : 0);
    auto where = [&] {
      return fmt::format("{}: entry {}: instruction {} ({}, {})", program.source(), entry_.name(), i,
                         instructionName(instruction), instruction.scope);
    };
    if (Status status = plan(program, instruction, planned); !status.ok())
      return std::move(status).withContext(where());
    StatusOr<PreparedWorks> works = PreparedWorks::prepare(context, planned.works());
    if (!works.ok())
      return std::move(works).status().withContext(where());
    works_.push_back(*std::move(works));
  }
  // The arena holds nothing between runs: operands for timing.
  for (PreparedWorks &works : works_)
    for (PreparedWorks::Work &work : works.works())
      if (auto *gemm = std::get_if<PreparedGemm>(&work))
        QRT_RETURN_IF_ERROR(device_.tuner().choose(*gemm, device_.at(Space::Transient, 0),
                                                   device_.reserved()[static_cast<int>(Space::Transient)]));
  device_.tuner().save();
  for (uint32_t i = 0; i < entry_.debug.size(); ++i)
    debug_.push_back(i);
  std::sort(debug_.begin(), debug_.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(entry_.debug[a].instruction, a) < std::pair(entry_.debug[b].instruction, b);
  });
  if (device_.options().launch == LaunchMode::Eager)
    return Status();
  return graph_.capture(device_.gpu().driver(), device_.gpu().stream(), [&] { return launchAll(nullptr); });
}

/// The arguments, from the host's view of io.
Status CudaExecutable::copyIn() const {
  int64_t end = 0;
  for (int32_t index : entry_.arguments)
    if (index >= 0)
      end = std::max(end, entry_.slices[static_cast<size_t>(index)].end);
  if (end > 0)
    QRT_CUDA_CHECK(device_.gpu().driver(), cuMemcpyHtoDAsync(device_.at(Space::Io, 0), device_.io().data(),
                                                             static_cast<size_t>(end), device_.gpu().stream()));
  return Status();
}

/// The results, to the host's view of io: everything from the first to the last.
Status CudaExecutable::copyOut() const {
  int64_t begin = std::numeric_limits<int64_t>::max(), end = 0;
  for (int32_t index : entry_.results)
    if (index >= 0) {
      const Slice &slice = entry_.slices[static_cast<size_t>(index)];
      begin = std::min(begin, slice.offset);
      end = std::max(end, slice.end);
    }
  if (end > begin)
    QRT_CUDA_CHECK(device_.gpu().driver(), cuMemcpyDtoHAsync(device_.io().data() + begin, device_.at(Space::Io, begin),
                                                             static_cast<size_t>(end - begin), device_.gpu().stream()));
  return Status();
}

Status CudaExecutable::launchAll(Observer *observer) const {
  WorkContext context = device_.gpu().works(*modules_);
  QRT_RETURN_IF_ERROR(copyIn());
  for (size_t i = 0; i < works_.size(); ++i) {
    QRT_RETURN_IF_ERROR(works_[i].launch(context, device_.gpu().stream()));
    if (observer)
      QRT_RETURN_IF_ERROR(notify(*observer, i));
  }
  return copyOut();
}

Status CudaExecutable::run(Observer *observer) {
  BlockedSignals blocked;
  QRT_RETURN_IF_ERROR(device_.poisonForRun(entry_));
  if (observer || device_.options().launch == LaunchMode::Eager)
    QRT_RETURN_IF_ERROR(launchAll(observer));
  else
    QRT_RETURN_IF_ERROR(graph_.launch(device_.gpu().stream()));
  return device_.gpu().synchronize();
}

Status CudaExecutable::notify(Observer &observer, size_t instruction) const {
  auto first = std::lower_bound(debug_.begin(), debug_.end(), instruction, [&](uint32_t index, size_t wanted) {
    return static_cast<size_t>(entry_.debug[index].instruction) < wanted;
  });
  for (; first != debug_.end() && static_cast<size_t>(entry_.debug[*first].instruction) == instruction; ++first) {
    const DebugValue &value = entry_.debug[*first];
    if (!observer.wants(value))
      continue;
    const Slice &slice = entry_.slices[static_cast<size_t>(value.slice)];
    std::vector<std::byte> strided(static_cast<size_t>(slice.end - slice.offset));
    QRT_RETURN_IF_ERROR(device_.gpu().read(device_.at(slice.space, slice.offset), strided));
    TensorShape dense =
        denseShape(slice.shape.dtype, std::span(slice.shape.dims, static_cast<size_t>(slice.shape.rank)));
    QRT_RETURN_IF_ERROR(observer.observe(value, dense, withoutGaps(slice.shape, strided)));
  }
  return Status();
}

/// Milliseconds of the entry's matrix products alone. In their own places they would work on what other products left
/// there, soon infinities: all take random numbers from the same two places in the arena, and write to a third. 0 where
/// the arena is too small for that.
StatusOr<double> CudaExecutable::timeGemms(double seconds) const {
  const Gpu &gpu = device_.gpu();
  std::vector<const PreparedGemm *> gemms;
  int64_t a = 0, b = 0, c = 0;
  for (const PreparedWorks &works : works_)
    for (const PreparedWorks::Work &work : works.works())
      if (const auto *gemm = std::get_if<PreparedGemm>(&work)) {
        gemms.push_back(gemm);
        a = std::max(a, gemmExtent(gemm->gemm().a));
        b = std::max(b, gemmExtent(gemm->gemm().b));
        c = std::max(c, gemmExtent(gemm->gemm().c));
      }
  auto aligned = [](int64_t bytes) { return (bytes + 255) / 256 * 256; };
  int64_t bytes = aligned(a) + aligned(b) + aligned(c);
  if (gemms.empty() || bytes > device_.reserved()[static_cast<int>(Space::Transient)])
    return 0.0;
  DevicePtr begin = device_.at(Space::Transient, 0);
  QRT_RETURN_IF_ERROR(fillWithRandom(gpu, begin, bytes));
  Graph graph;
  QRT_RETURN_IF_ERROR(graph.capture(gpu.driver(), gpu.stream(), [&]() -> Status {
    for (const PreparedGemm *gemm : gemms)
      QRT_RETURN_IF_ERROR(gemm->launch(gpu.stream(), gpu.gemmWorkspace(), begin,
                                       begin + static_cast<DevicePtr>(aligned(a)),
                                       begin + static_cast<DevicePtr>(aligned(a) + aligned(b))));
    return Status();
  }));
  return replay(gpu, graph, seconds);
}

StatusOr<ExecutionTimes> CudaExecutable::time(double seconds) {
  const Gpu &gpu = device_.gpu();
  WorkContext context = gpu.works(*modules_);
  ExecutionTimes times;
  QRT_RETURN_IF_ERROR(measureRates(gpu, context, device_.at(Space::Transient, 0),
                                   device_.reserved()[static_cast<int>(Space::Transient)], times));
  Graph whole, marked;
  QRT_RETURN_IF_ERROR(whole.capture(gpu.driver(), gpu.stream(), [&] { return launchAll(nullptr); }));
  Events events(gpu.driver());
  QRT_RETURN_IF_ERROR(events.create(works_.size() + 1));
  QRT_RETURN_IF_ERROR(marked.capture(gpu.driver(), gpu.stream(), [&]() -> Status {
    QRT_RETURN_IF_ERROR(copyIn());
    QRT_RETURN_IF_ERROR(events.recordInGraph(0, gpu.stream()));
    for (size_t i = 0; i < works_.size(); ++i) {
      QRT_RETURN_IF_ERROR(works_[i].launch(context, gpu.stream()));
      QRT_RETURN_IF_ERROR(events.recordInGraph(i + 1, gpu.stream()));
    }
    return copyOut();
  }));
  QRT_ASSIGN_OR_RETURN(times.run, replay(gpu, whole, seconds));
  QRT_ASSIGN_OR_RETURN(times.gemms, timeGemms(seconds));
  std::vector<std::vector<double>> samples(works_.size());
  for (int repeat = 0; repeat < 7; ++repeat) {
    QRT_RETURN_IF_ERROR(marked.launch(gpu.stream()));
    QRT_RETURN_IF_ERROR(gpu.synchronize());
    for (size_t i = 0; i < works_.size(); ++i) {
      QRT_ASSIGN_OR_RETURN(double milliseconds, events.elapsed(i, i + 1));
      samples[i].push_back(milliseconds);
    }
  }
  for (size_t i = 0; i < works_.size(); ++i) {
    std::nth_element(samples[i].begin(), samples[i].begin() + 3, samples[i].end());
    times.instructions.push_back(samples[i][3]);
    times.works.push_back(static_cast<int>(works_[i].works().size()));
  }
  return times;
}

} // namespace

StatusOr<std::unique_ptr<Device>> createCudaDevice(const CudaDeviceOptions &options) {
  QRT_ASSIGN_OR_RETURN(std::unique_ptr<Gpu> gpu, Gpu::open(options.ordinal));
  return std::unique_ptr<Device>(std::make_unique<CudaDevice>(std::move(gpu), options));
}

} // namespace qrt::cuda
