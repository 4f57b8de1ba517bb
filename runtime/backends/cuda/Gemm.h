// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_GEMM_H
#define RUNTIME_BACKENDS_CUDA_GEMM_H

#include "runtime/backends/cuda/cublaslt/CublasLt.h"
#include "runtime/backends/cuda/plan/KernelPlan.h"
#include "runtime/program/Memory.h"

namespace qrt::cuda {

/// Bytes from a matrix's first element to the end of its last, with 256 to spare for alignment.
inline int64_t gemmExtent(const Tensor &matrix) {
  return ((matrix.dim(0) - 1) * matrix.stride(0) + matrix.dim(1)) * byteSize(matrix.shape.dtype) + 256;
}

/// A matrix product with its algorithm chosen: "c = op(a) op(b) + beta c", row-major. Deterministic: split sums are
/// added in a fixed order. Owns the library's descriptors.
class PreparedGemm {
public:
  /// Describes the product and asks the library for algorithms that need no more than kGemmWorkspaceBytes, the
  /// candidates; the first is chosen. Unsupported, naming the shapes, where there is none.
  static StatusOr<PreparedGemm> prepare(const CublasLt &library, const GemmLaunch &gemm);

  PreparedGemm(PreparedGemm &&other) noexcept { swap(other); }
  PreparedGemm &operator=(PreparedGemm &&other) noexcept {
    swap(other);
    return *this;
  }
  ~PreparedGemm();

  size_t candidates() const { return candidates_.size(); }
  void chooseCandidate(size_t candidate) { chosen_ = candidates_[candidate]; }
  /// An algorithm that was chosen before, in this process or another. Candidates of two processes may differ in
  /// settings that an algorithm does not use (the shape of clusters), so it need not be one of them. False, and the
  /// choice stays, where the library cannot run it here, or it would not have been a candidate: by its workspace, the
  /// alignments it needs, or how it adds partial sums.
  bool choose(const LtAlgorithm &algorithm);
  const LtAlgorithm &chosen() const { return chosen_.algorithm; }

  /// Puts it on a stream whose workspace (kGemmWorkspaceBytes, 256-byte aligned) is given; also while it is being
  /// captured.
  Status launch(CUstream stream, DevicePtr workspace) const {
    return launch(stream, workspace, gemm_.a.data, gemm_.b.data, gemm_.c.data);
  }
  /// The same product on other matrices.
  Status launch(CUstream stream, DevicePtr workspace, DevicePtr a, DevicePtr b, DevicePtr c) const;

  const GemmLaunch &gemm() const { return gemm_; }
  /// "8192x34816x5120 bf16 -> bf16, a b^T", with the strides ("a/2060") and alignments ("a@16", in bytes) of matrices
  /// that have gaps or do not start at a multiple of 256: equal for products that have the same candidates.
  std::string name() const;

private:
  PreparedGemm() = default;
  void swap(PreparedGemm &other) noexcept;

  const CublasLt *library_ = nullptr;
  GemmLaunch gemm_;
  LtMatmulDesc desc_ = nullptr;
  LtLayout a_ = nullptr, b_ = nullptr, c_ = nullptr;
  std::vector<LtHeuristicResult> candidates_;
  LtHeuristicResult chosen_{};
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_GEMM_H
