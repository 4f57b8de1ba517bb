// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU's ways on the CPU: a run may be started while another is under way, and nothing is computed before it must be.
#ifndef TESTS_UNIT_RUNTIME_SUPPORT_AHEADDEVICE_H
#define TESTS_UNIT_RUNTIME_SUPPORT_AHEADDEVICE_H

#include "runtime/backends/cpu/CpuDevice.h"
#include "runtime/device/EntrySpaces.h"

#include <algorithm>
#include <deque>
#include <gtest/gtest.h>

namespace qrt::test {

/// Runs programs on a CPU, each run as late as possible: in finish(), with what its slot of io holds then. A slot that
/// is filled again too early spoils the run that it belongs to.
class AheadDevice : public Device {
public:
  /// What it was used for; it outlives the device.
  struct Record {
    int64_t reservations = 0;
    /// Most runs that were under way at once.
    size_t mostUnderWay = 0;
    /// How the entries were prepared.
    std::vector<Choosing> choosings;
  };
  explicit AheadDevice(Record &record) : record_(record) {}

  std::string target = "cpu";
  AvailableMemory available{0, "this test"};

  std::string_view name() const override { return "a GPU"; }
  std::string description() const override { return "a GPU in name"; }
  std::string bf16Description() const override { return cpu_->bf16Description(); }
  bool runsTarget(std::string_view asked) const override { return asked == target; }
  AvailableMemory availableMemory() const override { return available; }
  std::optional<MemoryUse> memoryUse() const override { return MemoryUse{1000, 10}; }
  int runsAhead() const override { return kSlots - 1; }
  Status reserve(const SpaceBytes &bytes) override {
    ++record_.reservations;
    for (std::vector<std::byte> &slot : slots_)
      slot.resize(static_cast<size_t>(bytes[static_cast<int>(Space::Io)]));
    return cpu_->reserve(bytes);
  }
  const SpaceBytes &reserved() const override { return cpu_->reserved(); }
  StatusOr<std::unique_ptr<qrt::Executable>> prepare(const Program &program, const Entry &entry,
                                                     Choosing choosing) override {
    record_.choosings.push_back(choosing);
    QRT_ASSIGN_OR_RETURN(std::unique_ptr<qrt::Executable> inner, cpu_->prepare(program, entry, choosing));
    return std::unique_ptr<qrt::Executable>(std::make_unique<Ahead>(*this, std::move(inner)));
  }
  std::string choices() const override { return fmt::format("{} choices\n", record_.choosings.size()); }
  Preparation preparation() const override { return {}; }
  Status write(Space space, int64_t offset, std::span<const std::byte> bytes) override {
    return cpu_->write(space, offset, bytes);
  }
  Status read(Space space, int64_t offset, std::span<std::byte> bytes) const override {
    return cpu_->read(space, offset, bytes);
  }
  Status zero(Space space, int64_t offset, int64_t bytes) override { return cpu_->zero(space, offset, bytes); }
  StatusOr<std::shared_ptr<std::byte>> hostMemory(int64_t bytes) override { return cpu_->hostMemory(bytes); }
  std::span<std::byte> io() override { return slots_[started_ % kSlots]; }
  std::span<const std::byte> results() override { return slots_[(finished_ + kSlots - 1) % kSlots]; }

private:
  static constexpr size_t kSlots = 2;

  class Ahead : public qrt::Executable {
  public:
    Ahead(AheadDevice &device, std::unique_ptr<qrt::Executable> inner) : device_(device), inner_(std::move(inner)) {}
    Status start(Observer *observer) override {
      device_.observer_ = observer;
      ++device_.started_;
      device_.record_.mostUnderWay = std::max(device_.record_.mostUnderWay, device_.started_ - device_.finished_);
      EXPECT_LE(device_.started_ - device_.finished_, kSlots);
      return Status();
    }
    Status finish() override {
      return finishBy([this] { return inner_->run(device_.observer_); });
    }
    StatusOr<ExecutionTimes> time(double seconds) override { return inner_->time(seconds); }
    StatusOr<ExecutionTrace> trace() override {
      EXPECT_EQ(device_.started_, device_.finished_);
      ++device_.started_;
      ExecutionTrace trace;
      QRT_RETURN_IF_ERROR(finishBy([&]() -> Status {
        QRT_ASSIGN_OR_RETURN(trace, inner_->trace());
        return Status();
      }));
      return trace;
    }

  private:
    template <typename Run> Status finishBy(Run run) {
      std::vector<std::byte> &slot = device_.slots_[device_.finished_++ % kSlots];
      std::copy(slot.begin(), slot.end(), device_.cpu_->io().begin());
      QRT_RETURN_IF_ERROR(run());
      std::copy(device_.cpu_->results().begin(), device_.cpu_->results().end(), slot.begin());
      return Status();
    }

    AheadDevice &device_;
    std::unique_ptr<qrt::Executable> inner_;
  };

  Record &record_;
  std::unique_ptr<Device> cpu_ = cpu::createCpuDevice({.threads = 1});
  std::vector<std::byte> slots_[kSlots];
  size_t started_ = 0, finished_ = 0;
  Observer *observer_ = nullptr;
};

} // namespace qrt::test

#endif // TESTS_UNIT_RUNTIME_SUPPORT_AHEADDEVICE_H
