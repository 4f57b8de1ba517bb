// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/GemmTuner.h"

#include "runtime/backends/cuda/Graph.h"
#include "runtime/backends/cuda/RandomFill.h"
#include "runtime/base/File.h"

#include <algorithm>

namespace qrt::cuda {
ProductChoices GemmTuner::machineOf(const Gpu &gpu) { return {gpu.name(), "cuBLASLt " + gpu.cublasLt().version()}; }

/// "FOLDER/products-NVIDIA-H200-13.1.0.json".
static std::string pathOf(const Gpu &gpu, const std::string &folder) {
  if (folder.empty())
    return "";
  std::string name = fmt::format("products-{}-{}.json", gpu.name(), gpu.cublasLt().version());
  std::replace(name.begin(), name.end(), ' ', '-');
  std::replace(name.begin(), name.end(), '/', '-');
  return joinPath(folder, name);
}

GemmTuner::GemmTuner(const Gpu &gpu, const std::string &folder, std::optional<GivenChoices> given)
    : gpu_(gpu), file_(pathOf(gpu, folder), machineOf(gpu)), given_(std::move(given)), known_(file_.read()),
      chosen_(machineOf(gpu)) {}

void GemmTuner::settle() {
  if (!fresh_.empty() && !file_.settle(chosen_, fresh_, known_).ok())
    unkept_ += static_cast<int64_t>(fresh_.size());
  fresh_.clear();
}

Status GemmTuner::choose(const WorkContext &context, std::span<PreparedGemm *const> gemms, Choosing choosing,
                         DevicePtr scratch, int64_t scratchBytes) {
  for (PreparedGemm *gemm : gemms)
    if (std::string name = gemm->name(); !chosen_.find(name)) {
      QRT_ASSIGN_OR_RETURN(ProductChoice choice, makeChoice(context, *gemm, name, choosing, scratch, scratchBytes));
      chosen_.set(name, choice);
    }
  // May replace what was timed above by what another process settled first: products take their choice only now.
  settle();
  for (PreparedGemm *gemm : gemms)
    if (std::string name = gemm->name(); !gemm->choose(chosen_.find(name)->algorithm))
      return error(StatusCode::InvalidData, "product {}: the library cannot run the algorithm that another run settled",
                   name);
  return Status();
}

StatusOr<ProductChoice> GemmTuner::makeChoice(const WorkContext &context, PreparedGemm &gemm, const std::string &name,
                                              Choosing choosing, DevicePtr scratch, int64_t scratchBytes) {
  if (const ProductChoice *choice = given_ ? given_->choices.find(name) : nullptr) {
    if (gemm.choose(choice->algorithm))
      return ProductChoice{choice->algorithm, ProductChoice::Reason::Given};
    return error(StatusCode::InvalidData, "{}: product {}: the library cannot run its algorithm", given_->source, name);
  }
  if (choosing == Choosing::Quickly ||
      gemmExtent(gemm.gemm().a) + gemmExtent(gemm.gemm().b) + gemmExtent(gemm.gemm().c) > scratchBytes) {
    gemm.chooseCandidate(0);
    return ProductChoice{gemm.chosen(), ProductChoice::Reason::First};
  }
  // A choice that the library cannot run any more is made again.
  if (const ProductChoice *choice = known_.find(name); choice && gemm.choose(choice->algorithm))
    return ProductChoice{choice->algorithm, ProductChoice::Reason::Timed};
  size_t best = 0;
  if (gemm.candidates() > 1)
    QRT_RETURN_IF_ERROR(time(context, gemm, scratch, scratchBytes, best));
  gemm.chooseCandidate(best);
  fresh_.push_back(name);
  ++timed_;
  return ProductChoice{gemm.chosen(), ProductChoice::Reason::Timed};
}

Status GemmTuner::time(const WorkContext &context, PreparedGemm &gemm, DevicePtr scratch, int64_t scratchBytes,
                       size_t &best) {
  auto aligned = [](int64_t bytes) { return static_cast<DevicePtr>(bytes / 256 * 256); };
  DevicePtr a = scratch, b = a + aligned(gemmExtent(gemm.gemm().a)), c = b + aligned(gemmExtent(gemm.gemm().b));
  // Real numbers each time: what products left there, in part sums of sums, would take another power.
  QRT_RETURN_IF_ERROR(fillWithRandom(
      gpu_, scratch, std::min(scratchBytes, static_cast<int64_t>(c - scratch) + gemmExtent(gemm.gemm().c))));
  size_t candidates = gemm.candidates();
  Events events(gpu_.driver());
  QRT_RETURN_IF_ERROR(events.create(candidates + 1));
  // Candidates [first, last), `runs` times each and one behind the other: milliseconds of a run of each. As a graph,
  // which is how they will run: what some bring beside their kernels costs something else in a stream.
  std::vector<double> milliseconds(candidates);
  auto measure = [&](size_t first, size_t last, int runs) -> Status {
    Graph graph;
    QRT_RETURN_IF_ERROR(graph.capture(context, gpu_.stream(), [&]() -> Status {
      QRT_RETURN_IF_ERROR(events.recordInGraph(first, gpu_.stream()));
      for (size_t i = first; i < last; ++i) {
        gemm.chooseCandidate(i);
        for (int run = 0; run < runs; ++run)
          QRT_RETURN_IF_ERROR(gemm.launch(gpu_.stream(), gpu_.gemmWorkspace(), a, b, c));
        QRT_RETURN_IF_ERROR(events.recordInGraph(i + 1, gpu_.stream()));
      }
      return Status();
    }));
    QRT_RETURN_IF_ERROR(graph.launch(gpu_.stream()));
    QRT_RETURN_IF_ERROR(gpu_.synchronize());
    for (size_t i = first; i < last; ++i) {
      QRT_ASSIGN_OR_RETURN(milliseconds[i], events.elapsed(i, i + 1));
      milliseconds[i] /= runs;
    }
    return Status();
  };
  // A candidate's first launch loads its code, which takes some milliseconds. Of long products the one before hides
  // that, so that each candidate runs once; short ones run all once for their code alone.
  constexpr double kLong = 10, kEach = 3;
  constexpr int kMostRuns = 20;
  QRT_RETURN_IF_ERROR(measure(0, 1, 1));
  QRT_RETURN_IF_ERROR(measure(0, 1, 1));
  double once = std::max(milliseconds[0], 1e-3);
  if (once > kLong) {
    QRT_RETURN_IF_ERROR(measure(0, candidates, 1));
  } else {
    QRT_RETURN_IF_ERROR(measure(1, candidates, 1));
    QRT_RETURN_IF_ERROR(measure(0, candidates, std::clamp(static_cast<int>(kEach / once), 1, kMostRuns)));
  }
  best = static_cast<size_t>(std::min_element(milliseconds.begin(), milliseconds.end()) - milliseconds.begin());
  return Status();
}

} // namespace qrt::cuda
