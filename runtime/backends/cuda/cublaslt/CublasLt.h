// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cuBLASLt, opened while the program runs. Its header comes only with a package of hundreds of megabytes, so the few
// types and numbers that are used are declared here; they are part of its binary interface.
#ifndef RUNTIME_BACKENDS_CUDA_CUBLASLT_CUBLASLT_H
#define RUNTIME_BACKENDS_CUDA_CUBLASLT_CUBLASLT_H

#include "runtime/backends/cuda/driver/Driver.h"

#include <cstddef>
#include <cstdint>

namespace qrt::cuda {

using LtHandle = struct LtHandleOpaque *;
using LtMatmulDesc = struct LtMatmulDescOpaque *;
using LtLayout = struct LtLayoutOpaque *;
using LtPreference = struct LtPreferenceOpaque *;

/// A choice of algorithm with all its settings: may be stored and used again by the same version of the library on the
/// same kind of GPU.
struct LtAlgorithm {
  uint64_t data[8];
};
struct LtHeuristicResult {
  LtAlgorithm algorithm;
  size_t workspaceBytes;
  int status;
  float waves;
  int reserved[4];
};

namespace lt {
constexpr int kComputeF32 = 68;
constexpr int kTypeF32 = 0, kTypeBf16 = 14;
constexpr int kTranspose = 1;
constexpr int kDescTransA = 3, kDescTransB = 4;
constexpr int kPrefWorkspaceBytes = 1, kPrefReductionMask = 3;
/// Bytes that the operands of c = a b + c are known to start on, in the library's names.
constexpr int kPrefAlignmentA = 5, kPrefAlignmentB = 6, kPrefAlignmentC = 7, kPrefAlignmentD = 8;
/// Partial sums of a product split along k are added in the compute type, in a fixed order; never in place by atomics.
constexpr uint32_t kReductionNoneOrComputeType = 2;
/// Of an algorithm: how it adds partial sums, 0 (it has none) or a bit as above; the bytes its operands have to start
/// on.
constexpr int kAlgorithmReduction = 3;
constexpr int kAlgorithmAlignmentA = 16, kAlgorithmAlignmentB = 17, kAlgorithmAlignmentC = 18,
              kAlgorithmAlignmentD = 19;
} // namespace lt

struct CublasLtFunctions {
#define QRT_CUBLASLT(name, ...) std::add_pointer_t<__VA_ARGS__> name;
#include "runtime/backends/cuda/cublaslt/CublasLtApi.def"
};

class CublasLt {
public:
  /// Opened on first use, then shared; needs a current context. Unsupported, naming both versions, where there is none
  /// or one older than 13.0.
  static StatusOr<const CublasLt *> open();

  const CublasLtFunctions *operator->() const { return &functions_; }
  LtHandle handle() const { return handle_; }
  /// "13.1.0".
  std::string version() const;

  /// Success for 0; otherwise Unsupported "`what`: what the library says".
  Status check(int status, std::string_view what) const;

private:
  friend class OpenedLibrary<CublasLt>;
  CublasLt() = default;
  Status load();

  CublasLtFunctions functions_{};
  LtHandle handle_ = nullptr;
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_CUBLASLT_CUBLASLT_H
