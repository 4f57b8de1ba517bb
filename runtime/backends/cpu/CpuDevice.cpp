// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/CpuDevice.h"

#include "runtime/backends/cpu/CpuKernel.h"
#include "runtime/backends/cpu/Gemm.h"
#include "runtime/backends/cpu/MeasureRates.h"
#include "runtime/backends/cpu/Processor.h"
#include "runtime/base/BlockedSignals.h"
#include "runtime/base/Stopwatch.h"
#include "runtime/device/DebugTable.h"
#include "runtime/device/EntrySpaces.h"
#include "runtime/program/InstructionCost.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace qrt::cpu {
namespace {

/// Memory that starts on a page, not initialized.
class Memory {
public:
  /// False if the system has no more.
  bool allocate(int64_t bytes) {
    constexpr int64_t kPage = 4096;
    data_.reset(static_cast<std::byte *>(
        std::aligned_alloc(kPage, static_cast<size_t>((std::max<int64_t>(bytes, 1) + kPage - 1) / kPage * kPage))));
    size_ = data_ ? bytes : 0;
    return data_ != nullptr;
  }
  std::byte *data() const { return data_.get(); }
  int64_t size() const { return size_; }
  void poison() {
    if (data_)
      std::memset(data_.get(), 0xFF, static_cast<size_t>(size_));
  }

private:
  struct Free {
    void operator()(std::byte *data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
  int64_t size_ = 0;
};

/// Rows of a strided tensor: everything but the last dimensions that lie without a gap.
struct Rows {
  explicit Rows(const TensorShape &shape) : shape(shape) {
    rowBytes = byteSize(shape.dtype);
    rank = shape.rank;
    while (rank > 0 && (shape.dims[rank - 1] == 1 || shape.strides[rank - 1] * byteSize(shape.dtype) == rowBytes))
      rowBytes *= shape.dims[--rank];
    for (int axis = 0; axis < rank; ++axis)
      count *= shape.dims[axis];
  }
  /// Where row `row` begins, in bytes.
  int64_t offset(int64_t row) const {
    int64_t elements = 0;
    for (int axis = rank - 1; axis >= 0; --axis) {
      elements += row % shape.dims[axis] * shape.strides[axis];
      row /= shape.dims[axis];
    }
    return elements * byteSize(shape.dtype);
  }
  const TensorShape &shape;
  int rank = 0;
  int64_t rowBytes = 0;
  int64_t count = 1;
};

/// Pieces of this many bytes are work for one thread.
constexpr int64_t kPieceBytes = 1 << 18;

/// Calls piece(row, offset in the row, bytes) for all of `count` rows, in parallel.
template <typename Piece> void forPieces(ThreadPool &threads, int64_t count, int64_t rowBytes, Piece piece) {
  if (rowBytes >= kPieceBytes) {
    int64_t perRow = (rowBytes + kPieceBytes - 1) / kPieceBytes;
    threads.forEach(count * perRow, [&](int64_t index, int) {
      int64_t begin = index % perRow * kPieceBytes;
      piece(index / perRow, begin, std::min(kPieceBytes, rowBytes - begin));
    });
    return;
  }
  int64_t rowsPerPiece = kPieceBytes / rowBytes;
  threads.forEach((count + rowsPerPiece - 1) / rowsPerPiece, [&](int64_t index, int) {
    int64_t begin = index * rowsPerPiece, end = std::min(begin + rowsPerPiece, count);
    for (int64_t row = begin; row < end; ++row)
      piece(row, 0, rowBytes);
  });
}

void copyTensor(ThreadPool &threads, const Tensor &source, const Tensor &target) {
  Rows from(source.shape), to(target.shape);
  // Both in rows of the shorter of the two lengths, which divides the other: they have the same dimensions.
  int64_t rowBytes = std::min(from.rowBytes, to.rowBytes);
  int64_t total = from.count * from.rowBytes;
  auto place = [&](const Rows &rows, int64_t row) {
    int64_t bytes = row * rowBytes;
    return rows.offset(bytes / rows.rowBytes) + bytes % rows.rowBytes;
  };
  forPieces(threads, total / rowBytes, rowBytes, [&](int64_t row, int64_t begin, int64_t bytes) {
    std::memcpy(target.as<std::byte>() + place(to, row) + begin, source.as<std::byte>() + place(from, row) + begin,
                static_cast<size_t>(bytes));
  });
}

void zeroTensor(ThreadPool &threads, const Tensor &target) {
  Rows rows(target.shape);
  forPieces(threads, rows.count, rows.rowBytes, [&](int64_t row, int64_t begin, int64_t bytes) {
    std::memset(target.as<std::byte>() + rows.offset(row) + begin, 0, static_cast<size_t>(bytes));
  });
}

class CpuDevice;

/// One instruction with everything looked up. Indices into CpuExecutable::tensors_ instead of pointers while it is
/// built.
struct Work {
  enum class Kind { Launch, Gemm, Copy, Fill } kind;
  const KernelImpl *impl = nullptr;
  Kernel kernel{};
  int64_t firstTensor = 0, tensors = 0;
  std::span<const ArgEffect> effects;
  std::span<const ParamValue> params;
  bool transposeA = false, transposeB = false, accumulate = false;
  int64_t scratchPerThread = 0;
  std::byte *workspace = nullptr;
  int64_t workspaceBytes = 0;
  const Expression *expression = nullptr;
};

class CpuExecutable final : public Executable {
public:
  CpuExecutable(CpuDevice &device, const Entry &entry) : device_(device), entry_(entry), debug_(entry) {}

  Status build(const Program &program);
  Status start(Observer *observer) override;
  Status finish() override { return Status(); }
  StatusOr<ExecutionTimes> time(double seconds) override;
  StatusOr<ExecutionTrace> trace() override;

private:
  std::span<const Tensor> tensorsOf(const Work &work) const {
    return std::span(tensors_).subspan(static_cast<size_t>(work.firstTensor), static_cast<size_t>(work.tensors));
  }
  Call call(const Work &work) const;
  GemmCall gemmCall(const Work &work) const;
  void execute(const Work &work) const;
  Status checkWorkspace(const Program &program, const Launch &launch, const Work &work) const;
  Status readDense(const Slice &slice, const TensorShape &dense, std::span<std::byte> bytes) const;

  CpuDevice &device_;
  const Entry &entry_;
  std::vector<Tensor> tensors_;
  std::vector<Work> works_;
  DebugTable debug_;
};

class CpuDevice final : public Device {
public:
  explicit CpuDevice(const CpuDeviceOptions &options)
      : threads_(options.threads > 0 ? options.threads : processorCount()), poison_(options.poison) {
    prepareThreads(threads_);
  }

  std::string_view name() const override { return "cpu"; }
  std::string description() const override { return "cpu, " + cpuDescription(threads_.size()); }
  std::string bf16Description() const override { return cpuBf16Description(); }
  bool runsTarget(std::string_view target) const override { return target == "cpu"; }
  AvailableMemory availableMemory() const override {
    long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGE_SIZE);
    return {pages > 0 && size > 0 ? static_cast<int64_t>(pages) * size : 0, "this machine"};
  }
  std::optional<MemoryUse> memoryUse() const override { return std::nullopt; }
  int runsAhead() const override { return 0; }
  Preparation preparation() const override { return {}; }
  std::string choices() const override { return ""; }

  Status reserve(const SpaceBytes &bytes) override {
    assert(!spaces_[0].data() && "the spaces are reserved once");
    for (int space = 0; space < kNumSpaces; ++space) {
      if (!spaces_[space].allocate(bytes[space]))
        return error(StatusCode::ResourceExhausted, "no memory for the {} bytes of {}", bytes[space],
                     spaceName(static_cast<Space>(space)));
      if (poison_)
        spaces_[space].poison();
    }
    reserved_ = bytes;
    return Status();
  }
  const SpaceBytes &reserved() const override { return reserved_; }

  StatusOr<std::unique_ptr<Executable>> prepare(const Program &program, const Entry &entry, Choosing) override {
    auto executable = std::make_unique<CpuExecutable>(*this, entry);
    QRT_RETURN_IF_ERROR(executable->build(program));
    return std::unique_ptr<Executable>(std::move(executable));
  }

  Status write(Space space, int64_t offset, std::span<const std::byte> bytes) override {
    if (!bytes.empty())
      std::memcpy(at(space, offset, static_cast<int64_t>(bytes.size())), bytes.data(), bytes.size());
    return Status();
  }
  Status read(Space space, int64_t offset, std::span<std::byte> bytes) const override {
    if (!bytes.empty())
      std::memcpy(bytes.data(), at(space, offset, static_cast<int64_t>(bytes.size())), bytes.size());
    return Status();
  }
  Status zero(Space space, int64_t offset, int64_t bytes) override {
    if (bytes > 0)
      forPieces(threads_, 1, bytes, [&](int64_t, int64_t begin, int64_t count) {
        std::memset(at(space, offset + begin, count), 0, static_cast<size_t>(count));
      });
    return Status();
  }
  StatusOr<std::shared_ptr<std::byte>> hostMemory(int64_t bytes) override {
    auto memory = std::make_shared<Memory>();
    if (!memory->allocate(bytes))
      return error(StatusCode::ResourceExhausted, "no memory for {} bytes", bytes);
    return std::shared_ptr<std::byte>(memory, memory->data());
  }
  std::span<std::byte> io() override {
    const Memory &memory = spaces_[static_cast<int>(Space::Io)];
    return {memory.data(), static_cast<size_t>(memory.size())};
  }
  std::span<const std::byte> results() override { return io(); }

  std::byte *at(Space space, int64_t offset, [[maybe_unused]] int64_t bytes) const {
    const Memory &memory = spaces_[static_cast<int>(space)];
    assert(offset >= 0 && bytes >= 0 && offset <= memory.size() - bytes && "outside the space");
    return memory.data() + offset;
  }
  ThreadPool &threads() { return threads_; }
  std::byte *scratch() const { return scratch_.data(); }

  /// Scratch is no longer needed after an instruction, so all entries share it.
  Status reserveScratch(int64_t bytes) {
    if (bytes <= scratch_.size() || scratch_.allocate(bytes))
      return Status();
    return error(StatusCode::ResourceExhausted, "no memory for the {} bytes of the kernels' scratch", bytes);
  }

  void poisonForRun(const Entry &entry) {
    if (!poison_)
      return;
    spaces_[static_cast<int>(Space::Transient)].poison();
    scratch_.poison();
    for (int32_t index : entry.results)
      if (index >= 0) {
        const Slice &result = entry.slices[static_cast<size_t>(index)];
        std::memset(at(Space::Io, result.offset, result.end - result.offset), 0xFF,
                    static_cast<size_t>(result.end - result.offset));
      }
  }

private:
  ThreadPool threads_;
  bool poison_;
  SpaceBytes reserved_{};
  Memory spaces_[kNumSpaces];
  Memory scratch_;
};

Call CpuExecutable::call(const Work &work) const {
  return {work.kernel,    tensorsOf(work),     work.effects,      work.params,
          entry_.bucket,  device_.threads(),   device_.scratch(), work.scratchPerThread,
          work.workspace, work.workspaceBytes, work.expression};
}

GemmCall CpuExecutable::gemmCall(const Work &work) const {
  std::span<const Tensor> tensors = tensorsOf(work);
  return {tensors[0],      tensors[1],        tensors[2],        work.transposeA,      work.transposeB,
          work.accumulate, device_.threads(), device_.scratch(), work.scratchPerThread};
}

Status CpuExecutable::build(const Program &program) {
  QRT_RETURN_IF_ERROR(checkSpaces(program, entry_, device_.reserved()));

  auto addTensor = [&](int32_t index) {
    if (index < 0) {
      tensors_.emplace_back();
      return;
    }
    const Slice &slice = entry_.slices[static_cast<size_t>(index)];
    tensors_.push_back({slice.shape, device_.at(slice.space, slice.offset, slice.end - slice.offset)});
  };
  for (const Instruction &instruction : entry_.instructions) {
    Work &work = works_.emplace_back();
    work.firstTensor = static_cast<int64_t>(tensors_.size());
    if (const Launch *launch = std::get_if<Launch>(&instruction.work)) {
      work.kind = Work::Kind::Launch;
      work.kernel = launch->kernel;
      work.impl = &kernelImpl(launch->kernel);
      for (int32_t index : launch->slices)
        addTensor(index);
      work.effects = launch->effects;
      work.params = launch->params;
      work.expression = launch->expressionOrNull();
      if (launch->workspace >= 0) {
        const Slice &workspace = entry_.slices[static_cast<size_t>(launch->workspace)];
        work.workspaceBytes = workspace.end - workspace.offset;
        work.workspace = device_.at(workspace.space, workspace.offset, work.workspaceBytes);
      }
    } else if (const Gemm *gemm = std::get_if<Gemm>(&instruction.work)) {
      work.kind = Work::Kind::Gemm;
      for (int32_t index : {gemm->a, gemm->b, gemm->c})
        addTensor(index);
      work.transposeA = gemm->transposeA;
      work.transposeB = gemm->transposeB;
      work.accumulate = gemm->accumulate;
    } else if (const Copy *copy = std::get_if<Copy>(&instruction.work)) {
      work.kind = Work::Kind::Copy;
      addTensor(copy->source);
      addTensor(copy->target);
    } else {
      work.kind = Work::Kind::Fill;
      addTensor(std::get<Fill>(instruction.work).target);
    }
    work.tensors = static_cast<int64_t>(tensors_.size()) - work.firstTensor;
    if (const Launch *launch = std::get_if<Launch>(&instruction.work))
      QRT_RETURN_IF_ERROR(checkWorkspace(program, *launch, work));
  }

  int64_t scratch = 0;
  for (Work &work : works_) {
    int64_t bytes = 0;
    if (work.kind == Work::Kind::Launch && work.impl->scratchBytes)
      bytes = work.impl->scratchBytes(call(work));
    else if (work.kind == Work::Kind::Gemm)
      bytes = gemmScratchBytes(gemmCall(work));
    work.scratchPerThread = (bytes + 63) / 64 * 64;
    scratch = std::max(scratch, work.scratchPerThread * device_.threads().size());
  }
  QRT_RETURN_IF_ERROR(device_.reserveScratch(scratch));
  return Status();
}

/// A program says how much workspace a call has; what its kernel needs is this backend's to know.
Status CpuExecutable::checkWorkspace(const Program &program, const Launch &launch, const Work &work) const {
  std::vector<std::optional<TensorShape>> shapes;
  for (const Tensor &tensor : tensorsOf(work))
    shapes.push_back(tensor ? std::optional(tensor.shape) : std::nullopt);
  if (int64_t needed = cpuWorkspaceBytes(launch.kernel, shapes); needed > work.workspaceBytes)
    return error(StatusCode::InvalidData, "{}: entry {}: {} needs {} bytes of workspace, but has {}", program.source(),
                 entry_.name(), kernelInfo(launch.kernel).name, needed, work.workspaceBytes);
  return Status();
}

void CpuExecutable::execute(const Work &work) const {
  switch (work.kind) {
  case Work::Kind::Launch:
    work.impl->run(call(work));
    return;
  case Work::Kind::Gemm:
    gemm(gemmCall(work));
    return;
  case Work::Kind::Copy:
    copyTensor(device_.threads(), tensorsOf(work)[0], tensorsOf(work)[1]);
    return;
  case Work::Kind::Fill:
    zeroTensor(device_.threads(), tensorsOf(work)[0]);
    return;
  }
}

Status CpuExecutable::start(Observer *observer) {
  BlockedSignals blocked;
  device_.poisonForRun(entry_);
  for (size_t i = 0; i < works_.size(); ++i) {
    execute(works_[i]);
    if (observer)
      QRT_RETURN_IF_ERROR(debug_.show(i, *observer, [this](const Slice &slice, const TensorShape &dense, auto bytes) {
        return readDense(slice, dense, bytes);
      }));
  }
  return Status();
}

StatusOr<ExecutionTimes> CpuExecutable::time(double seconds) {
  constexpr int kFewest = 3;
  std::vector<std::vector<double>> samples(works_.size());
  std::vector<double> runs, gemms;
  Stopwatch all;
  while (static_cast<int>(runs.size()) < kFewest || all.milliseconds() < seconds * 1e3) {
    double gemm = 0;
    Stopwatch whole;
    for (size_t i = 0; i < works_.size(); ++i) {
      Stopwatch watch;
      execute(works_[i]);
      samples[i].push_back(watch.milliseconds());
      if (works_[i].kind == Work::Kind::Gemm && !entry_.instructions[i].recomputed)
        gemm += samples[i].back();
    }
    runs.push_back(whole.milliseconds());
    gemms.push_back(gemm);
  }
  auto median = [](std::vector<double> &values) {
    auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  };
  ExecutionTimes times;
  times.copyRate = measureCopyRate(device_.threads());
  times.gemmRate = measureProductRate(device_.threads(), entryStorage(entry_));
  times.run = median(runs);
  times.gemms = median(gemms);
  for (std::vector<double> &values : samples)
    times.instructions.push_back(median(values));
  times.works.assign(works_.size(), 1);
  return times;
}

StatusOr<ExecutionTrace> CpuExecutable::trace() {
  BlockedSignals blocked;
  device_.poisonForRun(entry_);
  ExecutionTrace trace;
  Stopwatch watch;
  auto now = [&] { return static_cast<int64_t>(watch.milliseconds() * 1e6); };
  for (size_t i = 0; i < works_.size(); ++i) {
    int64_t begin = now();
    execute(works_[i]);
    trace.works.push_back(
        {std::string(instructionName(entry_.instructions[i])), begin, now(), 0, static_cast<int32_t>(i)});
  }
  return trace;
}

Status CpuExecutable::readDense(const Slice &slice, const TensorShape &dense, std::span<std::byte> bytes) const {
  copyTensor(device_.threads(), {slice.shape, device_.at(slice.space, slice.offset, slice.end - slice.offset)},
             {dense, bytes.data()});
  return Status();
}

} // namespace

std::unique_ptr<Device> createCpuDevice(const CpuDeviceOptions &options) {
  return std::make_unique<CpuDevice>(options);
}

} // namespace qrt::cpu
