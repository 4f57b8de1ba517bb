// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_GRAPH_H
#define RUNTIME_BACKENDS_CUDA_GRAPH_H

#include "runtime/backends/cuda/Gpu.h"
#include "runtime/backends/cuda/GraphFills.h"

#include <functional>
#include <vector>

namespace qrt::cuda {

/// A captured sequence of works.
class Graph {
public:
  Graph() = default;
  Graph(const Graph &) = delete;
  ~Graph() {
    if (executable_)
      (*driver_)->cuGraphExecDestroy(executable_);
  }

  /// Captures what `record` puts on the stream; small fills become launches (GraphFills.h).
  template <typename Record> Status capture(const WorkContext &context, CUstream stream, Record record) {
    const Driver &driver = context.driver;
    driver_ = &driver;
    // Other threads may call the driver meanwhile.
    QRT_CUDA_CHECK(driver, cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    Status recorded = record();
    CUgraph graph = nullptr;
    CUresult ended = driver->cuStreamEndCapture(stream, &graph);
    if (recorded.ok() && ended == CUDA_SUCCESS)
      recorded = launchSmallFills(context, graph);
    CUresult instantiated = recorded.ok() && ended == CUDA_SUCCESS
                                ? driver->cuGraphInstantiateWithFlags(&executable_, graph, 0)
                                : CUDA_SUCCESS;
    if (graph)
      driver->cuGraphDestroy(graph);
    QRT_RETURN_IF_ERROR(std::move(recorded));
    QRT_RETURN_IF_ERROR(driver.check(ended, "cuStreamEndCapture"));
    QRT_RETURN_IF_ERROR(driver.check(instantiated, "cuGraphInstantiateWithFlags"));
    QRT_CUDA_CHECK(driver, cuGraphUpload(executable_, stream));
    return Status();
  }

  Status launch(CUstream stream) const {
    QRT_CUDA_CHECK(*driver_, cuGraphLaunch(executable_, stream));
    return Status();
  }

private:
  const Driver *driver_ = nullptr;
  CUgraphExec executable_ = nullptr;
};

/// Points in time on the device.
class Events {
public:
  explicit Events(const Driver &driver) : driver_(driver) {}
  Events(const Events &) = delete;
  ~Events() {
    for (CUevent event : events_)
      driver_->cuEventDestroy(event);
  }

  Status create(size_t count) {
    while (events_.size() < count)
      QRT_CUDA_CHECK(driver_, cuEventCreate(&events_.emplace_back(), 0));
    return Status();
  }
  Status record(size_t event, CUstream stream) const {
    QRT_CUDA_CHECK(driver_, cuEventRecord(events_[event], stream));
    return Status();
  }
  /// While the stream is captured: each replay records the event.
  Status recordInGraph(size_t event, CUstream stream) const {
    QRT_CUDA_CHECK(driver_, cuEventRecordWithFlags(events_[event], stream, CU_EVENT_RECORD_EXTERNAL));
    return Status();
  }
  /// Milliseconds between two events that have happened.
  StatusOr<double> elapsed(size_t from, size_t to) const {
    float milliseconds = 0;
    QRT_CUDA_CHECK(driver_, cuEventElapsedTime(&milliseconds, events_[from], events_[to]));
    return static_cast<double>(milliseconds);
  }

private:
  const Driver &driver_;
  std::vector<CUevent> events_;
};

/// Calls `launch`, which puts work on the GPU's stream, again and again for about so many seconds; the median
/// milliseconds of the second half of the calls, when the GPU is warm.
StatusOr<double> replay(const Gpu &gpu, double seconds, const std::function<Status()> &launch);

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_GRAPH_H
