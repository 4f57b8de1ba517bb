// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/cupti/ActivityRecorder.h"

#include <cstdlib>
#include <cxxabi.h>
#include <mutex>
#include <utility>

namespace qrt::cuda {
namespace {

constexpr int kKinds[] = {cupti::kConcurrentKernel, cupti::kMemcpy, cupti::kMemset};

/// What CUPTI's callbacks find: they are told nothing of the recorder.
struct Recorded {
  std::mutex mutex;
  const Cupti *cupti = nullptr;
  std::vector<TracedWork> works;
  size_t lost = 0;
};
Recorded &recorded() {
  static Recorded recorded;
  return recorded;
}

void requestBuffer(uint8_t **buffer, size_t *bytes, size_t *records) {
  constexpr size_t kBytes = size_t{8} << 20, kAlignment = 8;
  *buffer = static_cast<uint8_t *>(std::aligned_alloc(kAlignment, kBytes));
  *bytes = *buffer ? kBytes : 0;
  // As many as fit.
  *records = 0;
}

void completeBuffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t, size_t validBytes) {
  Recorded &all = recorded();
  std::lock_guard lock(all.mutex);
  const CuptiActivity *record = nullptr;
  while (validBytes > 0 && (*all.cupti)->cuptiActivityGetNextRecord(buffer, validBytes, &record) == 0)
    if (std::optional<TracedWork> work = tracedWork(*record))
      all.works.push_back(*std::move(work));
  size_t lost = 0;
  if ((*all.cupti)->cuptiActivityGetNumDroppedRecords(context, stream, &lost) == 0)
    all.lost += lost;
  std::free(buffer);
}

template <typename Record> TracedWork timesOf(const Record &record) {
  return {"", static_cast<int64_t>(record.start), static_cast<int64_t>(record.end), record.stream, -1};
}

} // namespace

std::string functionName(const char *mangled) {
  int status = 0;
  std::unique_ptr<char, void (*)(void *)> demangled(abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  if (status != 0 || !demangled)
    return mangled;
  std::string_view name = demangled.get();
  constexpr std::string_view kOurs = "qrt::device::";
  size_t begin = name.find(kOurs);
  if (begin == std::string_view::npos)
    return std::string(name);
  name.remove_prefix(begin + kOurs.size());
  std::string function(name.substr(0, name.find('(')));
  // The types of its arguments are ours too.
  for (size_t at; (at = function.find(kOurs)) != std::string::npos;)
    function.erase(at, kOurs.size());
  return function;
}

std::optional<TracedWork> tracedWork(const CuptiActivity &record) {
  std::optional<TracedWork> work;
  if (record.kind == cupti::kConcurrentKernel) {
    const auto &kernel = reinterpret_cast<const CuptiKernel &>(record);
    work = timesOf(kernel);
    work->name = kernel.name ? functionName(kernel.name) : "kernel";
  } else if (record.kind == cupti::kMemcpy || record.kind == cupti::kMemset) {
    work = timesOf(reinterpret_cast<const CuptiTransfer &>(record));
    work->name = record.kind == cupti::kMemcpy ? "copy" : "fill";
  }
  if (work && work->end == 0)
    return std::nullopt;
  return work;
}

StatusOr<std::unique_ptr<ActivityRecorder>> ActivityRecorder::start() {
  QRT_ASSIGN_OR_RETURN(const Cupti *found, Cupti::open());
  const Cupti &cupti = *found;
  {
    std::lock_guard lock(recorded().mutex);
    recorded().cupti = found;
  }
  QRT_RETURN_IF_ERROR(cupti.check(cupti->cuptiActivityRegisterCallbacks(requestBuffer, completeBuffer),
                                  "cuptiActivityRegisterCallbacks"));
  std::unique_ptr<ActivityRecorder> recorder(new ActivityRecorder(cupti));
  for (int kind : kKinds)
    QRT_RETURN_IF_ERROR(cupti.check(cupti->cuptiActivityEnable(kind), "cuptiActivityEnable"));
  return recorder;
}

ActivityRecorder::~ActivityRecorder() {
  for (int kind : kKinds)
    cupti_->cuptiActivityDisable(kind);
}

StatusOr<std::vector<TracedWork>> ActivityRecorder::take() {
  QRT_RETURN_IF_ERROR(cupti_.check(cupti_->cuptiActivityFlushAll(cupti::kFlushForced), "cuptiActivityFlushAll"));
  std::lock_guard lock(recorded().mutex);
  std::vector<TracedWork> works = std::exchange(recorded().works, {});
  if (size_t lost = std::exchange(recorded().lost, 0))
    return error(StatusCode::Unsupported, "CUPTI lost {} records of what the GPU did", lost);
  return works;
}

} // namespace qrt::cuda
