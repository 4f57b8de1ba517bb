// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_GEMMTUNER_H
#define RUNTIME_BACKENDS_CUDA_GEMMTUNER_H

#include "runtime/backends/cuda/ChoicesFile.h"
#include "runtime/backends/cuda/Gpu.h"
#include "runtime/device/Device.h"

#include <optional>

namespace qrt::cuda {

/// Choices that a run must make, and the file that they are from.
struct GivenChoices {
  ProductChoices choices;
  std::string source;
};

/// Chooses the algorithm of each matrix product, once for products of one name (PreparedGemm::name): as it is given;
/// otherwise by timing the library's candidates on the device. What was timed is kept in a file for each GPU and
/// version of the library, so that later runs need not do it again.
class GemmTuner {
public:
  /// `folder`: where the file of choices lies; empty: nowhere. `given` are of this GPU and library.
  GemmTuner(const Gpu &gpu, const std::string &folder, std::optional<GivenChoices> given = std::nullopt);

  /// What the choices of a GPU are labelled with.
  static ProductChoices machineOf(const Gpu &gpu);

  /// Sets the algorithms of products; to be called before any of them is captured. What had to be timed is settled
  /// before products take it: of processes that time the same one, the first to be done has its choice taken by all.
  /// `context` has the function of fills (GraphFills.h). `scratch` is device memory for operands, whose contents are
  /// lost; where it is too small, or with Choosing::Quickly, the library's first candidate is taken. InvalidData if the
  /// library cannot run what is given or settled. A file that cannot be written is no error, but counted (unkept).
  Status choose(const WorkContext &context, std::span<PreparedGemm *const> gemms, Choosing choosing, DevicePtr scratch,
                int64_t scratchBytes);

  /// Of all products so far.
  const ProductChoices &chosen() const { return chosen_; }
  /// Products timed so far.
  int64_t timed() const { return timed_; }
  /// Of these, those that are kept nowhere: another run may choose otherwise.
  int64_t unkept() const { return unkept_; }

private:
  /// For all products of this name, which have none yet.
  StatusOr<ProductChoice> makeChoice(const WorkContext &context, PreparedGemm &gemm, const std::string &name,
                                     Choosing choosing, DevicePtr scratch, int64_t scratchBytes);
  void settle();
  Status time(const WorkContext &context, PreparedGemm &gemm, DevicePtr scratch, int64_t scratchBytes, size_t &best);

  const Gpu &gpu_;
  ChoicesFile file_;
  std::optional<GivenChoices> given_;
  /// In the file when this run began (of the products in fresh_, what the library cannot run); in this run.
  ProductChoices known_, chosen_;
  /// Names of products timed since they were settled last.
  std::vector<std::string> fresh_;
  int64_t timed_ = 0, unkept_ = 0;
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_GEMMTUNER_H
