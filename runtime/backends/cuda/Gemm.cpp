// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/Gemm.h"

#include "runtime/kernels/Signature.h"

#include <algorithm>

namespace qrt::cuda {
namespace {

constexpr int kCandidates = 16;

int typeOf(DType dtype) { return dtype == DType::BF16 ? lt::kTypeBf16 : lt::kTypeF32; }

/// The largest power of two that divides the address, as far as the library asks: it takes 256 for granted.
uint32_t alignmentOf(const Tensor &tensor) {
  return static_cast<uint32_t>(std::min(tensor.data & -tensor.data, DevicePtr{256}));
}

/// A matrix [rows, cols] in row-major order is one of [cols, rows] in the library's column-major order.
Status describe(const CublasLt &library, const Tensor &tensor, LtLayout &layout) {
  int64_t rows = tensor.dim(0), cols = tensor.dim(1);
  int64_t ld = rows > 1 ? tensor.stride(0) : cols;
  return library.check(library->cublasLtMatrixLayoutCreate(&layout, typeOf(tensor.shape.dtype),
                                                           static_cast<uint64_t>(cols), static_cast<uint64_t>(rows),
                                                           ld),
                       "cublasLtMatrixLayoutCreate");
}

/// What is asked of an algorithm.
struct Preference {
  const CublasLt &library;
  LtPreference handle = nullptr;

  ~Preference() {
    if (handle)
      library->cublasLtMatmulPreferenceDestroy(handle);
  }
  template <typename T> Status set(int attribute, T value) const {
    return library.check(library->cublasLtMatmulPreferenceSetAttribute(handle, attribute, &value, sizeof(value)),
                         "cublasLtMatmulPreferenceSetAttribute");
  }
};

} // namespace

StatusOr<PreparedGemm> PreparedGemm::prepare(const CublasLt &library, const GemmLaunch &gemm) {
  PreparedGemm prepared;
  prepared.library_ = &library;
  prepared.gemm_ = gemm;
  QRT_RETURN_IF_ERROR(library.check(library->cublasLtMatmulDescCreate(&prepared.desc_, lt::kComputeF32, lt::kTypeF32),
                                    "cublasLtMatmulDescCreate"));
  // c^T = op(b)^T op(a)^T: the library's first operand is b.
  auto transpose = [&](int attribute, bool transposed) {
    int32_t value = transposed ? lt::kTranspose : 0;
    return library.check(library->cublasLtMatmulDescSetAttribute(prepared.desc_, attribute, &value, sizeof(value)),
                         "cublasLtMatmulDescSetAttribute");
  };
  QRT_RETURN_IF_ERROR(transpose(lt::kDescTransA, gemm.transposeB));
  QRT_RETURN_IF_ERROR(transpose(lt::kDescTransB, gemm.transposeA));
  QRT_RETURN_IF_ERROR(describe(library, gemm.a, prepared.a_));
  QRT_RETURN_IF_ERROR(describe(library, gemm.b, prepared.b_));
  QRT_RETURN_IF_ERROR(describe(library, gemm.c, prepared.c_));

  Preference preference{library};
  QRT_RETURN_IF_ERROR(
      library.check(library->cublasLtMatmulPreferenceCreate(&preference.handle), "cublasLtMatmulPreferenceCreate"));
  QRT_RETURN_IF_ERROR(preference.set(lt::kPrefWorkspaceBytes, uint64_t{kGemmWorkspaceBytes}));
  QRT_RETURN_IF_ERROR(preference.set(lt::kPrefReductionMask, lt::kReductionNoneOrComputeType));
  QRT_RETURN_IF_ERROR(preference.set(lt::kPrefAlignmentA, alignmentOf(gemm.b)));
  QRT_RETURN_IF_ERROR(preference.set(lt::kPrefAlignmentB, alignmentOf(gemm.a)));
  QRT_RETURN_IF_ERROR(preference.set(lt::kPrefAlignmentC, alignmentOf(gemm.c)));
  QRT_RETURN_IF_ERROR(preference.set(lt::kPrefAlignmentD, alignmentOf(gemm.c)));
  prepared.candidates_.resize(kCandidates);
  int returned = 0;
  int status = library->cublasLtMatmulAlgoGetHeuristic(library.handle(), prepared.desc_, prepared.b_, prepared.a_,
                                                       prepared.c_, prepared.c_, preference.handle, kCandidates,
                                                       prepared.candidates_.data(), &returned);
  prepared.candidates_.resize(static_cast<size_t>(std::max(returned, 0)));
  std::erase_if(prepared.candidates_, [](const LtHeuristicResult &result) { return result.status != 0; });
  if (status != 0 || prepared.candidates_.empty())
    return error(StatusCode::Unsupported, "cuBLASLt {} has no algorithm for {}: {}", library.version(), prepared.name(),
                 library->cublasLtGetStatusString(status));
  prepared.chooseCandidate(0);
  return prepared;
}

bool PreparedGemm::choose(const LtAlgorithm &algorithm) {
  const CublasLt &library = *library_;
  LtHeuristicResult checked{};
  if (library->cublasLtMatmulAlgoCheck(library.handle(), desc_, b_, a_, c_, c_, &algorithm, &checked) != 0 ||
      checked.workspaceBytes > kGemmWorkspaceBytes)
    return false;
  // What candidates were asked for and the library's check does not see.
  uint32_t value = 0;
  size_t written = 0;
  if (library->cublasLtMatmulAlgoConfigGetAttribute(&algorithm, lt::kAlgorithmReduction, &value, sizeof(value),
                                                    &written) == 0 &&
      (value & ~lt::kReductionNoneOrComputeType) != 0)
    return false;
  for (auto [attribute, operand] : {std::pair(lt::kAlgorithmAlignmentA, &gemm_.b),
                                    {lt::kAlgorithmAlignmentB, &gemm_.a},
                                    {lt::kAlgorithmAlignmentC, &gemm_.c},
                                    {lt::kAlgorithmAlignmentD, &gemm_.c}})
    if (library->cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, &value, sizeof(value), &written) == 0 &&
        value > alignmentOf(*operand))
      return false;
  checked.algorithm = algorithm;
  chosen_ = checked;
  return true;
}

PreparedGemm::~PreparedGemm() {
  if (!library_)
    return;
  for (LtLayout layout : {a_, b_, c_})
    if (layout)
      (*library_)->cublasLtMatrixLayoutDestroy(layout);
  if (desc_)
    (*library_)->cublasLtMatmulDescDestroy(desc_);
}

void PreparedGemm::swap(PreparedGemm &other) noexcept {
  std::swap(library_, other.library_);
  std::swap(gemm_, other.gemm_);
  std::swap(desc_, other.desc_);
  std::swap(a_, other.a_);
  std::swap(b_, other.b_);
  std::swap(c_, other.c_);
  std::swap(candidates_, other.candidates_);
  std::swap(chosen_, other.chosen_);
}

Status PreparedGemm::launch(CUstream stream, DevicePtr workspace, DevicePtr a, DevicePtr b, DevicePtr c) const {
  const CublasLt &library = *library_;
  float alpha = 1, beta = gemm_.accumulate ? 1 : 0;
  auto pointer = [](DevicePtr address) { return reinterpret_cast<void *>(address); };
  int status =
      library->cublasLtMatmul(library.handle(), desc_, &alpha, pointer(b), b_, pointer(a), a_, &beta, pointer(c), c_,
                              pointer(c), c_, &chosen_.algorithm, pointer(workspace), chosen_.workspaceBytes, stream);
  return status == 0 ? Status() : library.check(status, name());
}

std::string PreparedGemm::name() const {
  int64_t m = gemm_.c.dim(0), n = gemm_.c.dim(1), k = gemm_.a.dim(gemm_.transposeA ? 0 : 1);
  // What candidates depend on beside the shape.
  auto layoutOf = [](const Tensor &tensor) {
    uint32_t alignment = alignmentOf(tensor);
    return (tensor.dim(0) > 1 && tensor.stride(0) != tensor.dim(1) ? fmt::format("/{}", tensor.stride(0)) : "") +
           (alignment < 256 ? fmt::format("@{}", alignment) : "");
  };
  return fmt::format("{}x{}x{} {} -> {}{}, a{}{} b{}{}{}", m, n, k, dtypeName(gemm_.a.shape.dtype),
                     dtypeName(gemm_.c.shape.dtype), layoutOf(gemm_.c), layoutOf(gemm_.a), gemm_.transposeA ? "^T" : "",
                     layoutOf(gemm_.b), gemm_.transposeB ? "^T" : "", gemm_.accumulate ? " + c" : "");
}

} // namespace qrt::cuda
