// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a call of a kernel of the catalog becomes on a GPU: a list of device launches, matrix products and fills. Plans
// are made by host code that needs no GPU and no library, and the same code serves twice: `qcc build` plans with
// addresses of no meaning to learn which device functions to compile and how much workspace a call takes; the runtime
// plans with the real addresses and launches what it gets.
#ifndef RUNTIME_BACKENDS_CUDA_PLAN_KERNELPLAN_H
#define RUNTIME_BACKENDS_CUDA_PLAN_KERNELPLAN_H

#include "runtime/base/Status.h"
#include "runtime/kernels/Expression.h"
#include "runtime/kernels/Kernel.h"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace qrt::cuda {

/// An address in the device's memory, as the driver has it.
using DevicePtr = uint64_t;

/// One argument of a call. Absent optional arguments have no data.
struct Tensor {
  TensorShape shape;
  DevicePtr data = 0;

  explicit operator bool() const { return data != 0; }
  int64_t dim(int axis) const { return shape.dims[axis]; }
  /// In elements.
  int64_t stride(int axis) const { return shape.strides[axis]; }
};

/// What a plan may depend on of the device. Reduction orders must not depend on it, so that a program gives the same
/// bits on every GPU of its target.
struct DeviceLimits {
  int multiprocessors = 132;
};
/// Sums are split among the blocks that so many multiprocessors hold at once, however many the device has.
constexpr int64_t kMultiprocessorsOfSums = 132;

/// The counterpart of cpu::Call.
struct Call {
  Kernel kernel;
  /// In catalog order; variadic arguments follow one another.
  std::span<const Tensor> args;
  /// Of each argument: Read, Write or InOut. An Accumulate argument that is added to comes as InOut.
  std::span<const ArgEffect> effects;
  std::span<const ParamValue> params;
  BucketShape bucket;
  DeviceLimits device;
  /// Of a call of `pointwise`, else null.
  const Expression *expression = nullptr;

  bool accumulates(int arg) const { return effects[static_cast<size_t>(arg)] == ArgEffect::InOut; }
};

/// A box of a bf16 tensor that the copy engine moves to shared memory (cuTensorMapEncodeTiled); dimensions innermost
/// first.
struct TensorMapSpec {
  /// Where in the parameters the 128 bytes of the map lie.
  uint32_t paramOffset = 0;
  DevicePtr base = 0;
  int rank = 0;
  std::array<uint64_t, 5> dims{};
  /// Bytes between neighbours of dimension i + 1; multiples of 16.
  std::array<uint64_t, 4> strides{};
  std::array<uint32_t, 5> box{};
  /// Whether rows, of 64 elements then, lie as panelOffset() of device/Hopper.cuh finds them (the swizzle of 128
  /// bytes), or one behind the other.
  bool swizzled = true;
};

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

/// One device function to launch. Its only parameter is a struct of device/*.h, by value.
struct DeviceLaunch {
  /// File of device/ that defines it: "RmsNorm.cuh".
  std::string_view source;
  /// C++ expression naming it inside namespace qrt::device: "addRmsNorm<bf16, float>".
  std::string function;
  Dim3 grid, block;
  /// Blocks of a cluster (along x); 1: none.
  uint32_t cluster = 1;
  uint32_t sharedBytes = 0;
  std::vector<std::byte> params;
  std::vector<TensorMapSpec> tensorMaps;

  DeviceLaunch &map(TensorMapSpec spec) {
    tensorMaps.push_back(spec);
    return *this;
  }
};

/// c = op(a) op(b) + beta c, row-major, f32 accumulation (see cpu::GemmCall).
struct GemmLaunch {
  Tensor a, b, c;
  bool transposeA = false, transposeB = false, accumulate = false;
};

/// `bytes` bytes become zero.
struct FillLaunch {
  DevicePtr data;
  int64_t bytes;
};

using DeviceWork = std::variant<DeviceLaunch, GemmLaunch, FillLaunch>;

/// Collects the works of one call, in the order in which they run.
class KernelPlan {
public:
  /// `workspace`: an address of 256-byte alignment.
  explicit KernelPlan(DevicePtr workspace) : workspace_(workspace) {}

  template <typename Params>
  DeviceLaunch &launch(std::string_view source, std::string function, Dim3 grid, Dim3 block, uint32_t sharedBytes,
                       const Params &params) {
    static_assert(std::is_trivially_copyable_v<Params>);
    checkGrid(grid);
    DeviceLaunch launch{source, std::move(function), grid, block, 1, sharedBytes, {}, {}};
    launch.params.resize(sizeof(Params));
    std::memcpy(launch.params.data(), &params, sizeof(Params));
    return std::get<DeviceLaunch>(works_.emplace_back(std::move(launch)));
  }
  void gemm(const GemmLaunch &gemm) { works_.push_back(gemm); }
  void fill(DevicePtr data, int64_t bytes) { works_.push_back(FillLaunch{data, bytes}); }

  /// Memory of this call alone: undefined before it, of no meaning after. 256-byte aligned.
  DevicePtr workspace(int64_t bytes);

  /// Says that the call does not read an optional argument though it was given: nobody need keep its value for it.
  void ignore(int arg) { ignored_.push_back(arg); }

  const std::vector<DeviceWork> &works() const { return works_; }
  const std::vector<int> &ignored() const { return ignored_; }
  int64_t workspaceBytes() const { return workspaceBytes_; }
  /// Unsupported if a work of the plan is more than a GPU takes: the plan must not run.
  const Status &status() const { return status_; }

private:
  void checkGrid(Dim3 grid);

  std::vector<DeviceWork> works_;
  std::vector<int> ignored_;
  DevicePtr workspace_;
  int64_t workspaceBytes_ = 0;
  Status status_;
};

/// The works of a call whose shapes were checked (checkCall in Signature.h). Unsupported, naming the argument, expected
/// and actual, where no device function takes these shapes or types; the plan is then of no use.
Status planKernel(const Call &call, KernelPlan &plan);

/// Calls of adamw that fit into one plan: they have the same scalars (norm, counters, hyperparameters, seed) and types,
/// and none writes what another reads or writes. Refers to the arguments of the calls.
class UpdateGroup {
public:
  /// Takes `call` if it fits with those taken before; the first always does.
  bool join(const Call &call);
  const std::vector<Call> &calls() const { return calls_; }

private:
  /// A set of addresses.
  class Addresses {
  public:
    void add(const Tensor &tensor);
    bool intersects(const Tensor &tensor) const;

  private:
    /// Ranges that do not overlap: the end of each by its begin.
    std::map<DevicePtr, DevicePtr> ends_;
  };

  std::vector<Call> calls_;
  /// All arguments of the calls, and those of them that are written.
  Addresses arguments_, written_;
};

/// The works of calls of an UpdateGroup as those of one: few launches update many parameters. To the same bits as a
/// plan for each. Errors as planKernel's.
Status planUpdates(std::span<const Call> calls, KernelPlan &plan);

/// Copies a tensor to another of the same dimensions and type; either may have gaps.
Status planCopy(const Tensor &source, const Tensor &target, KernelPlan &plan);
/// Zeros in every element of a tensor, and nowhere in its gaps.
Status planZero(const Tensor &target, KernelPlan &plan);

/// A fill with zeros by a kernel, in units of 4 bytes: always of the same function, which every program for a GPU has
/// (what libraries fill is not in it; GraphFills.h).
constexpr int64_t kKernelFillUnit = 4;
DeviceLaunch kernelFill(DevicePtr data, int64_t bytes);

/// "bf16" or "float": how device code names a type of storage.
std::string_view deviceType(DType dtype);

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_PLAN_KERNELPLAN_H
