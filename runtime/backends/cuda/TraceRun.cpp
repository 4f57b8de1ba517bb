// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/TraceRun.h"

#include "runtime/backends/cuda/cupti/ActivityRecorder.h"

namespace qrt::cuda {

/// Pieces of work that the works of an instruction become: a product may be more than one.
static StatusOr<int> countPieces(const Gpu &gpu, const WorkContext &context, const PreparedWorks &works) {
  const Driver &driver = gpu.driver();
  QRT_CUDA_CHECK(driver, cuStreamBeginCapture(gpu.stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  Status launched = works.launch(context, gpu.stream());
  CUgraph graph = nullptr;
  CUresult ended = driver->cuStreamEndCapture(gpu.stream(), &graph);
  size_t pieces = 0;
  CUresult counted = graph ? driver->cuGraphGetNodes(graph, nullptr, &pieces) : CUDA_SUCCESS;
  if (graph)
    driver->cuGraphDestroy(graph);
  QRT_RETURN_IF_ERROR(launched);
  QRT_RETURN_IF_ERROR(driver.check(ended, "cuStreamEndCapture"));
  QRT_RETURN_IF_ERROR(driver.check(counted, "cuGraphGetNodes"));
  return static_cast<int>(pieces);
}

StatusOr<ExecutionTrace> trace(const Gpu &gpu, const WorkContext &context, const TracedRun &run) {
  std::vector<int> pieces;
  for (const PreparedWorks &works : run.works) {
    QRT_ASSIGN_OR_RETURN(int count, countPieces(gpu, context, works));
    pieces.push_back(count);
  }
  QRT_ASSIGN_OR_RETURN(std::unique_ptr<ActivityRecorder> recorder, ActivityRecorder::start());
  QRT_RETURN_IF_ERROR(run.prepare());
  QRT_RETURN_IF_ERROR(gpu.synchronize());
  QRT_RETURN_IF_ERROR(recorder->take().status());
  QRT_RETURN_IF_ERROR(run.launch());
  QRT_RETURN_IF_ERROR(gpu.synchronize());
  ExecutionTrace trace;
  QRT_ASSIGN_OR_RETURN(trace.works, recorder->take());
  assignInstructions(trace, run.copiesIn, pieces, run.copiesOut);
  // Early launches (PreparedLaunch.h) have taken their places while others ran.
  beginInTurn(trace);
  return trace;
}

} // namespace qrt::cuda
