// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/CudaDevice.h"

#include "runtime/backends/cuda/GemmTuner.h"
#include "runtime/backends/cuda/Graph.h"
#include "runtime/backends/cuda/IoRing.h"
#include "runtime/backends/cuda/MeasureRates.h"
#include "runtime/backends/cuda/RandomFill.h"
#include "runtime/backends/cuda/TraceRun.h"
#include "runtime/backends/cuda/nvml/TelemetrySampler.h"
#include "runtime/base/File.h"
#include "runtime/base/Stopwatch.h"
#include "runtime/device/DebugTable.h"
#include "runtime/device/EntrySpaces.h"
#include "runtime/program/InstructionCost.h"
#include "runtime/program/Memory.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

namespace qrt::cuda {
namespace {

/// The elements of a tensor one behind the other.
void copyWithoutGaps(const TensorShape &shape, std::span<const std::byte> strided, std::span<std::byte> dense) {
  int64_t size = byteSize(shape.dtype);
  for (int64_t index = 0; index < shape.elements(); ++index) {
    int64_t rest = index, offset = 0;
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
      offset += rest % shape.dims[axis] * shape.strides[axis];
      rest /= shape.dims[axis];
    }
    std::copy_n(strided.begin() + offset * size, size, dense.begin() + index * size);
  }
}

class CudaDevice;

class CudaExecutable final : public Executable {
public:
  CudaExecutable(CudaDevice &device, const Program &program, const Entry &entry)
      : device_(device), program_(program), entry_(entry), debug_(entry) {}

  Status build(Choosing choosing);
  Status start(Observer *observer) override;
  Status finish() override;
  StatusOr<ExecutionTimes> time(double seconds) override;
  StatusOr<ExecutionTrace> trace() override;

private:
  Tensor tensorOf(int32_t slice) const;
  std::vector<Tensor> argsOf(const Launch &launch) const;
  Call callOf(const Launch &launch, std::span<const Tensor> args) const;
  Status plan(const Instruction &instruction, KernelPlan &plan) const;
  /// The updates of parameters at instruction `first` and after it that fit into one plan: how many.
  StatusOr<size_t> planUpdatesFrom(size_t first, KernelPlan &plan) const;
  /// "FILE: entry step 8192: instruction 12 (gemm, layers.3.mlp)".
  std::string where(size_t instruction) const;
  /// Puts all instructions on the stream; also while it is being captured.
  Status launchAll() const;
  /// The same, waiting for each, so that an error is that of the instruction it names.
  Status launchEach(Observer *observer) const;
  /// Arguments from the slot of io that the next run has, and results to it.
  Status copyIn() const;
  Status copyOut() const;
  Status readDense(const Slice &slice, std::span<std::byte> bytes) const;
  StatusOr<double> timeGemms(double seconds) const;

  CudaDevice &device_;
  const Program &program_;
  const Entry &entry_;
  std::shared_ptr<KernelModules> modules_;
  /// By instruction. Of updates of parameters in one plan, the first has all works.
  std::vector<PreparedWorks> works_;
  Graph graph_;
  DebugTable debug_;
};

class CudaDevice final : public Device {
public:
  CudaDevice(std::unique_ptr<Gpu> gpu, const CudaDeviceOptions &options, std::optional<GivenChoices> given)
      : gpu_(std::move(gpu)), tuner_(*gpu_, options.cacheFolder, std::move(given)), options_(options), io_(*gpu_) {}

  std::string_view name() const override { return gpu_->name(); }
  std::string description() const override {
    return fmt::format("{}, cuBLASLt {}{}", gpu_->name(), gpu_->cublasLt().version(),
                       options_.launch == LaunchMode::Eager ? ", launched one by one" : "");
  }
  std::string bf16Description() const override { return "bf16 products on tensor cores, added in f32"; }
  bool runsTarget(std::string_view target) const override { return target == "sm_90a"; }
  AvailableMemory availableMemory() const override {
    return {gpu_->freeAtStart() + kContextBytes, "the GPU's free memory"};
  }
  std::optional<MemoryUse> memoryUse() const override {
    StatusOr<int64_t> free = gpu_->freeBytes();
    if (!free.ok())
      return std::nullopt;
    return MemoryUse{gpu_->totalBytes() - *free,
                     std::max<int64_t>(gpu_->totalBytes() - gpu_->freeAtStart() - kContextBytes, 0)};
  }
  int runsAhead() const override { return IoRing::kSlots - 1; }
  Preparation preparation() const override { return preparation_; }
  std::string choices() const override { return tuner_.chosen().print(); }
  Preparation &preparation() { return preparation_; }

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
    reserved_ = bytes;
    return io_.allocate(bytes[static_cast<int>(Space::Io)]);
  }
  const SpaceBytes &reserved() const override { return reserved_; }

  StatusOr<std::unique_ptr<Executable>> prepare(const Program &program, const Entry &entry,
                                                Choosing choosing) override {
    auto executable = std::make_unique<CudaExecutable>(*this, program, entry);
    QRT_RETURN_IF_ERROR(executable->build(choosing));
    return std::unique_ptr<Executable>(std::move(executable));
  }

  Status write(Space space, int64_t offset, std::span<const std::byte> bytes) override {
    return gpu_->write(at(space, offset), bytes);
  }
  Status read(Space space, int64_t offset, std::span<std::byte> bytes) const override {
    return gpu_->read(at(space, offset), bytes);
  }
  Status zero(Space space, int64_t offset, int64_t bytes) override { return gpu_->fill(at(space, offset), 0, bytes); }
  StatusOr<std::shared_ptr<std::byte>> hostMemory(int64_t bytes) override {
    QRT_ASSIGN_OR_RETURN(PinnedMemory pinned, PinnedMemory::allocate(gpu_->driver(), bytes));
    auto memory = std::make_shared<PinnedMemory>(std::move(pinned));
    return std::shared_ptr<std::byte>(memory, memory->data());
  }
  std::span<std::byte> io() override { return io_.next(); }
  std::span<const std::byte> results() override { return io_.finished(); }
  IoRing &ring() { return io_; }

  DevicePtr at(Space space, int64_t offset) const {
    return spaces_[static_cast<int>(space)].data() + static_cast<DevicePtr>(offset);
  }
  Gpu &gpu() const { return *gpu_; }
  GemmTuner &tuner() { return tuner_; }
  const CudaDeviceOptions &options() const { return options_; }

  /// The device functions of a program, shared by the executables of its entries; they end with the last of them.
  std::shared_ptr<KernelModules> modulesOf(const Program &program) {
    std::weak_ptr<KernelModules> &kept = modules_[&program];
    std::shared_ptr<KernelModules> modules = kept.lock();
    if (!modules)
      kept = modules =
          std::make_shared<KernelModules>(gpu_->driver(), [&program](std::string_view, const std::string &name) {
            return deviceCodeOf(program, name);
          });
    return modules;
  }

  Status poisonForRun(const Entry &entry) {
    if (!options_.poison)
      return Status();
    const DeviceMemory &transient = spaces_[static_cast<int>(Space::Transient)];
    QRT_RETURN_IF_ERROR(gpu_->fill(transient.data(), 0xFF, transient.bytes()));
    for (int32_t index : entry.results)
      if (index >= 0) {
        const Slice &result = entry.slices[static_cast<size_t>(index)];
        std::memset(io_.next().data() + result.offset, 0xFF, static_cast<size_t>(result.end - result.offset));
      }
    return Status();
  }

private:
  std::unique_ptr<Gpu> gpu_;
  GemmTuner tuner_;
  CudaDeviceOptions options_;
  SpaceBytes reserved_{};
  DeviceMemory spaces_[kNumSpaces];
  IoRing io_;
  Preparation preparation_;
  std::map<const Program *, std::weak_ptr<KernelModules>> modules_;
};

Tensor CudaExecutable::tensorOf(int32_t index) const {
  if (index < 0)
    return {};
  const Slice &slice = entry_.slices[static_cast<size_t>(index)];
  return {slice.shape, device_.at(slice.space, slice.offset)};
}

std::vector<Tensor> CudaExecutable::argsOf(const Launch &launch) const {
  std::vector<Tensor> args;
  for (int32_t index : launch.slices)
    args.push_back(tensorOf(index));
  return args;
}

Call CudaExecutable::callOf(const Launch &launch, std::span<const Tensor> args) const {
  return {launch.kernel,
          args,
          launch.effects,
          launch.params,
          entry_.bucket,
          device_.gpu().limits(),
          launch.expressionOrNull()};
}

StatusOr<size_t> CudaExecutable::planUpdatesFrom(size_t first, KernelPlan &plan) const {
  std::deque<std::vector<Tensor>> args;
  UpdateGroup group;
  for (size_t i = first; i < entry_.instructions.size(); ++i) {
    const Launch *launch = std::get_if<Launch>(&entry_.instructions[i].work);
    if (!launch || launch->kernel != Kernel::AdamW || !group.join(callOf(*launch, args.emplace_back(argsOf(*launch)))))
      break;
  }
  QRT_RETURN_IF_ERROR(planUpdates(group.calls(), plan));
  return group.calls().size();
}

Status CudaExecutable::plan(const Instruction &instruction, KernelPlan &plan) const {
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
  std::vector<Tensor> args = argsOf(launch);
  QRT_RETURN_IF_ERROR(planKernel(callOf(launch, args), plan));
  int64_t workspace = 0;
  if (launch.workspace >= 0) {
    const Slice &slice = entry_.slices[static_cast<size_t>(launch.workspace)];
    workspace = slice.end - slice.offset;
  }
  if (plan.workspaceBytes() > workspace)
    return error(StatusCode::InvalidData,
                 "needs {} bytes of workspace, but the program gives it {}: it was built by {}", plan.workspaceBytes(),
                 workspace, program_.producer());
  return Status();
}

std::string CudaExecutable::where(size_t instruction) const {
  const Instruction &its = entry_.instructions[instruction];
  return fmt::format("{}: entry {}: instruction {} ({}, {})", program_.source(), entry_.name(), instruction,
                     instructionName(its), its.scope);
}

Status CudaExecutable::build(Choosing choosing) {
  QRT_RETURN_IF_ERROR(checkSpaces(program_, entry_, device_.reserved()));
  Preparation &done = device_.preparation();
  Stopwatch watch;
  auto lap = [&, last = 0.0](double &milliseconds) mutable {
    double now = watch.milliseconds();
    milliseconds += now - last;
    last = now;
  };
  modules_ = device_.modulesOf(program_);
  int64_t loaded = modules_->size();
  WorkContext context = device_.gpu().works(*modules_);
  while (works_.size() < entry_.instructions.size()) {
    const size_t i = works_.size();
    const Launch *launch = std::get_if<Launch>(&entry_.instructions[i].work);
    KernelPlan planned(launch && launch->workspace >= 0 ? tensorOf(launch->workspace).data : 0);
    size_t count = 1;
    if (launch && launch->kernel == Kernel::AdamW) {
      StatusOr<size_t> updates = planUpdatesFrom(i, planned);
      if (!updates.ok())
        return std::move(updates).status().withContext(where(i));
      count = *updates;
    } else if (Status status = plan(entry_.instructions[i], planned); !status.ok()) {
      return std::move(status).withContext(where(i));
    }
    StatusOr<PreparedWorks> works = PreparedWorks::prepare(context, planned.works());
    if (!works.ok())
      return std::move(works).status().withContext(where(i));
    works_.push_back(*std::move(works));
    works_.resize(i + count);
  }
  done.functions += modules_->size() - loaded;
  lap(done.loadMilliseconds);
  std::vector<PreparedGemm *> products;
  for (PreparedWorks &works : works_)
    for (PreparedWorks::Work &work : works.works())
      if (auto *gemm = std::get_if<PreparedGemm>(&work))
        products.push_back(gemm);
  int64_t timed = device_.tuner().timed();
  // The arena holds nothing between runs: operands for timing.
  QRT_RETURN_IF_ERROR(device_.tuner().choose(context, products, choosing, device_.at(Space::Transient, 0),
                                             device_.reserved()[static_cast<int>(Space::Transient)]));
  done.productsNotKept = device_.tuner().unkept();
  done.productsTimed += device_.tuner().timed() - timed;
  lap(done.productMilliseconds);
  if (device_.options().launch == LaunchMode::Eager)
    return Status();
  Status captured = graph_.capture(context, device_.gpu().stream(), [&] { return launchAll(); });
  lap(done.captureMilliseconds);
  return captured;
}

Status CudaExecutable::copyIn() const {
  if (IoRange range = argumentRange(entry_); range.bytes() > 0)
    QRT_CUDA_CHECK(device_.gpu().driver(),
                   cuMemcpyHtoDAsync(device_.at(Space::Io, range.first), device_.io().data() + range.first,
                                     static_cast<size_t>(range.bytes()), device_.gpu().stream()));
  return Status();
}

Status CudaExecutable::copyOut() const {
  if (IoRange range = resultRange(entry_); range.bytes() > 0)
    QRT_CUDA_CHECK(device_.gpu().driver(),
                   cuMemcpyDtoHAsync(device_.io().data() + range.first, device_.at(Space::Io, range.first),
                                     static_cast<size_t>(range.bytes()), device_.gpu().stream()));
  return Status();
}

Status CudaExecutable::launchAll() const {
  WorkContext context = device_.gpu().works(*modules_);
  for (const PreparedWorks &works : works_)
    QRT_RETURN_IF_ERROR(works.launch(context, device_.gpu().stream()));
  return Status();
}

Status CudaExecutable::launchEach(Observer *observer) const {
  WorkContext context = device_.gpu().works(*modules_);
  for (size_t i = 0; i < works_.size(); ++i) {
    Status status = works_[i].launch(context, device_.gpu().stream());
    if (status.ok())
      status = device_.gpu().synchronize();
    if (!status.ok())
      return std::move(status).withContext(where(i));
    if (observer)
      QRT_RETURN_IF_ERROR(debug_.show(i, *observer, [this](const Slice &slice, const TensorShape &, auto bytes) {
        return readDense(slice, bytes);
      }));
  }
  return Status();
}

Status CudaExecutable::start(Observer *observer) {
  QRT_RETURN_IF_ERROR(device_.poisonForRun(entry_));
  QRT_RETURN_IF_ERROR(copyIn());
  if (observer || device_.options().launch == LaunchMode::Eager)
    QRT_RETURN_IF_ERROR(launchEach(observer));
  else
    QRT_RETURN_IF_ERROR(graph_.launch(device_.gpu().stream()));
  QRT_RETURN_IF_ERROR(copyOut());
  return device_.ring().started();
}

Status CudaExecutable::finish() {
  Status status = device_.ring().finish();
  if (!status.ok())
    return std::move(status).withContext(
        fmt::format("{}: entry {}, replayed as a graph (with --launch eager the error names the instruction)",
                    program_.source(), entry_.name()));
  return status;
}

Status CudaExecutable::readDense(const Slice &slice, std::span<std::byte> bytes) const {
  std::vector<std::byte> strided(static_cast<size_t>(slice.end - slice.offset));
  QRT_RETURN_IF_ERROR(device_.gpu().read(device_.at(slice.space, slice.offset), strided));
  copyWithoutGaps(slice.shape, strided, bytes);
  return Status();
}

/// Milliseconds of the entry's matrix products alone. In their own places they would work on what other products left
/// there, soon infinities: all take random numbers from the same two places in the arena, and write to a third. Those
/// that are computed again do not count. 0 where the arena is too small for that.
StatusOr<double> CudaExecutable::timeGemms(double seconds) const {
  const Gpu &gpu = device_.gpu();
  std::vector<const PreparedGemm *> gemms;
  int64_t a = 0, b = 0, c = 0;
  for (size_t i = 0; i < works_.size(); ++i)
    for (const PreparedWorks::Work &work : works_[i].works())
      if (const auto *gemm = std::get_if<PreparedGemm>(&work); gemm && !entry_.instructions[i].recomputed) {
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
  QRT_RETURN_IF_ERROR(graph.capture(gpu.works(*modules_), gpu.stream(), [&]() -> Status {
    for (const PreparedGemm *gemm : gemms)
      QRT_RETURN_IF_ERROR(gemm->launch(gpu.stream(), gpu.gemmWorkspace(), begin,
                                       begin + static_cast<DevicePtr>(aligned(a)),
                                       begin + static_cast<DevicePtr>(aligned(a) + aligned(b))));
    return Status();
  }));
  return replay(gpu, seconds, [&] { return graph.launch(gpu.stream()); });
}

StatusOr<ExecutionTimes> CudaExecutable::time(double seconds) {
  const Gpu &gpu = device_.gpu();
  WorkContext context = gpu.works(*modules_);
  ExecutionTimes times;
  QRT_RETURN_IF_ERROR(measureRates(gpu, context, entryStorage(entry_), device_.at(Space::Transient, 0),
                                   device_.reserved()[static_cast<int>(Space::Transient)], times));
  Graph marked;
  Events events(gpu.driver());
  QRT_RETURN_IF_ERROR(events.create(works_.size() + 1));
  QRT_RETURN_IF_ERROR(marked.capture(context, gpu.stream(), [&]() -> Status {
    QRT_RETURN_IF_ERROR(events.recordInGraph(0, gpu.stream()));
    for (size_t i = 0; i < works_.size(); ++i) {
      QRT_RETURN_IF_ERROR(works_[i].launch(context, gpu.stream()));
      QRT_RETURN_IF_ERROR(events.recordInGraph(i + 1, gpu.stream()));
    }
    return Status();
  }));
  TelemetrySampler telemetry(gpu.pciBusId());
  // As a step of training: with its two copies.
  QRT_ASSIGN_OR_RETURN(times.run, replay(gpu, seconds, [&]() -> Status {
                         QRT_RETURN_IF_ERROR(copyIn());
                         QRT_RETURN_IF_ERROR(
                             device_.options().launch == LaunchMode::Eager ? launchAll() : graph_.launch(gpu.stream()));
                         return copyOut();
                       }));
  times.telemetry = telemetry.finish();
  // The arguments are there from now on.
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

StatusOr<ExecutionTrace> CudaExecutable::trace() {
  const Gpu &gpu = device_.gpu();
  bool replays = device_.options().launch == LaunchMode::Graph;
  Graph graph;
  auto prepare = [&]() -> Status {
    QRT_RETURN_IF_ERROR(device_.poisonForRun(entry_));
    return replays ? graph.capture(gpu.works(*modules_), gpu.stream(), [&] { return launchAll(); }) : Status();
  };
  auto launch = [&]() -> Status {
    QRT_RETURN_IF_ERROR(copyIn());
    QRT_RETURN_IF_ERROR(replays ? graph.launch(gpu.stream()) : launchAll());
    QRT_RETURN_IF_ERROR(copyOut());
    return device_.ring().started();
  };
  QRT_ASSIGN_OR_RETURN(ExecutionTrace trace, cuda::trace(gpu, gpu.works(*modules_),
                                                         {works_, argumentRange(entry_).bytes() > 0,
                                                          resultRange(entry_).bytes() > 0, prepare, launch}));
  QRT_RETURN_IF_ERROR(finish());
  return trace;
}

} // namespace

StatusOr<std::unique_ptr<Device>> createCudaDevice(const CudaDeviceOptions &options) {
  QRT_ASSIGN_OR_RETURN(std::unique_ptr<Gpu> gpu, Gpu::open(options.ordinal));
  std::optional<GivenChoices> given;
  if (!options.products.empty()) {
    QRT_ASSIGN_OR_RETURN(std::string text, readFile(options.products, ProductChoices::kMaxFileBytes));
    QRT_ASSIGN_OR_RETURN(ProductChoices choices, ProductChoices::parse(text, options.products));
    QRT_RETURN_IF_ERROR(choices.checkSameMachine(GemmTuner::machineOf(*gpu), options.products));
    given.emplace(std::move(choices), options.products);
  }
  return std::unique_ptr<Device>(std::make_unique<CudaDevice>(std::move(gpu), options, std::move(given)));
}

} // namespace qrt::cuda
