// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls CPU kernels on host tensors for tests: random values, gaps between rows, poisoned outputs and scratch, any
// number of threads.
#ifndef TESTS_UNIT_CPU_KERNELHARNESS_H
#define TESTS_UNIT_CPU_KERNELHARNESS_H

#include "runtime/backends/cpu/CpuKernel.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace qrt::cpu::test {

/// A tensor with its memory. Elements are addressed by their flat index in row-major order, whatever the strides, and
/// read as double.
class HostTensor {
public:
  HostTensor() = default;
  /// `gap` further elements lie after every run of the last dimension, as in a column slice of a wider matrix. All
  /// memory is poison.
  HostTensor(DType dtype, std::vector<int64_t> dims, int64_t gap = 0) {
    shape_.dtype = dtype;
    shape_.rank = static_cast<int>(dims.size());
    int64_t stride = 1;
    for (int i = shape_.rank - 1; i >= 0; --i) {
      shape_.dims[i] = dims[i];
      shape_.strides[i] = stride;
      stride *= dims[i];
      if (i == shape_.rank - 1)
        stride += gap;
    }
    // One element at least, so that a tensor without elements still has an address.
    bytes_.resize((stride + 1) * byteSize(dtype));
    poison();
  }

  const TensorShape &shape() const { return shape_; }
  int64_t elements() const { return shape_.elements(); }
  int64_t cols() const { return shape_.rank ? shape_.dims[shape_.rank - 1] : 1; }
  Tensor tensor() { return {shape_, bytes_.empty() ? nullptr : bytes_.data()}; }
  const std::vector<std::byte> &bytes() const { return bytes_; }
  std::vector<std::byte> &bytes() { return bytes_; }

  /// NaN in every float, -1 in every integer.
  void poison() { std::memset(bytes_.data(), 0xff, bytes_.size()); }

  double get(int64_t index) const {
    const std::byte *p = at(index);
    switch (shape_.dtype) {
    case DType::F32:
      return load<float>(p);
    case DType::BF16:
      return std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(p)) << 16);
    case DType::I32:
      return load<int32_t>(p);
    case DType::I64:
      return static_cast<double>(load<int64_t>(p));
    default:
      ADD_FAILURE() << "type not supported by the harness";
      return 0;
    }
  }
  /// Rounds to the storage type.
  void set(int64_t index, double value) {
    std::byte *p = at(index);
    switch (shape_.dtype) {
    case DType::F32:
      return store(p, static_cast<float>(value));
    case DType::BF16: {
      uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(value));
      return store(p, static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16));
    }
    case DType::I32:
      return store(p, static_cast<int32_t>(value));
    case DType::I64:
      return store(p, static_cast<int64_t>(value));
    default:
      ADD_FAILURE() << "type not supported by the harness";
    }
  }
  std::vector<double> values() const {
    std::vector<double> result(elements());
    for (int64_t i = 0; i < elements(); ++i)
      result[i] = get(i);
    return result;
  }
  void fill(const std::vector<double> &values) {
    for (int64_t i = 0; i < elements(); ++i)
      set(i, values[i]);
  }
  /// Normally distributed values.
  HostTensor &randomize(std::mt19937 &random, double scale = 1, double mean = 0) {
    std::normal_distribution<double> normal(mean, scale);
    for (int64_t i = 0; i < elements(); ++i)
      set(i, normal(random));
    return *this;
  }

  /// Whether the gaps between rows still hold the poison.
  bool gapsIntact() const {
    std::vector<std::byte> copy = bytes_;
    for (int64_t i = 0; i < elements(); ++i)
      std::memset(copy.data() + (at(i) - bytes_.data()), 0xff, byteSize(shape_.dtype));
    for (std::byte b : copy)
      if (b != std::byte{0xff})
        return false;
    return true;
  }

private:
  std::byte *at(int64_t index) const {
    int64_t offset = 0;
    for (int i = shape_.rank - 1; i >= 0; --i) {
      offset += index % shape_.dims[i] * shape_.strides[i];
      index /= shape_.dims[i];
    }
    return const_cast<std::byte *>(bytes_.data()) + offset * byteSize(shape_.dtype);
  }
  template <typename T> static T load(const std::byte *p) {
    T value;
    std::memcpy(&value, p, sizeof(T));
    return value;
  }
  template <typename T> static void store(std::byte *p, T value) { std::memcpy(p, &value, sizeof(T)); }

  TensorShape shape_;
  std::vector<std::byte> bytes_;
};

/// What a call does to each of its `count` arguments; those of `accumulate` are added to.
inline std::vector<ArgEffect> callEffects(Kernel kernel, size_t count, const std::vector<int> &accumulate) {
  std::vector<ArgEffect> effects;
  for (size_t i = 0; i < count; ++i)
    effects.push_back(callEffect(kernelInfo(kernel).arg(i).effect));
  for (int i : accumulate)
    effects[static_cast<size_t>(i)] = ArgEffect::InOut;
  return effects;
}

/// One call. Arguments by catalog order; an absent optional one is null. `accumulate` lists the arguments that are
/// added to.
struct KernelCall {
  Kernel kernel;
  std::vector<HostTensor *> args;
  std::vector<ParamValue> params = {};
  std::vector<int> accumulate = {};
  BucketShape bucket = {};
  /// Of the CPU's call; negative: as much as it asks for.
  int64_t workspaceBytes = -1;
  /// Of a call of `pointwise`.
  std::optional<Expression> expression = std::nullopt;

  const Expression *expressionOrNull() const { return expression ? &*expression : nullptr; }

  /// Of each argument: Read, Write or, of those in `accumulate` too, InOut.
  std::vector<ArgEffect> effects() const { return callEffects(kernel, args.size(), accumulate); }

  /// Runs on `threads` threads. Scratch is poison.
  void run(int threads = 2) const {
    const KernelInfo &info = kernelInfo(kernel);
    std::vector<Tensor> tensors;
    for (HostTensor *arg : args)
      tensors.push_back(arg ? arg->tensor() : Tensor());
    std::vector<ArgEffect> effects = this->effects();
    ThreadPool pool(threads);
    Call call{kernel, tensors, effects, params, bucket, pool};
    call.expression = expressionOrNull();
    std::vector<std::optional<TensorShape>> shapes;
    for (const Tensor &tensor : tensors)
      shapes.push_back(tensor ? std::optional(tensor.shape) : std::nullopt);
    call.workspaceBytes = workspaceBytes < 0 ? cpuWorkspaceBytes(kernel, shapes) : workspaceBytes;
    std::vector<std::byte> workspace(call.workspaceBytes + 64, std::byte{0xff});
    call.workspace = reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(workspace.data()) + 63) / 64 * 64);
    const KernelImpl &impl = kernelImpl(kernel);
    call.scratchPerThread = impl.scratchBytes ? (impl.scratchBytes(call) + 63) / 64 * 64 : 0;
    std::vector<std::byte> memory(call.scratchPerThread * threads + 64, std::byte{0xff});
    call.scratch = reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    impl.run(call);
    for (HostTensor *arg : args)
      if (arg)
        EXPECT_TRUE(arg->gapsIntact()) << info.name << " wrote between the rows of an argument";
  }

  /// Runs on one and on several threads from the same outputs and expects the same bits; then as compiled for lesser
  /// processors, and expects the same within rounding. Leaves the outputs of the first run.
  void runDeterministic() const;
};

inline ParamValue floatParam(double value) { return {.f = value}; }
inline ParamValue intParam(int64_t value) { return {.i = value}; }

/// norm(got - expected) / norm(expected); infinity where an element is not finite.
inline double relativeError(const HostTensor &got, const std::vector<double> &expected) {
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < got.elements(); ++i) {
    double value = got.get(i);
    if (!std::isfinite(value))
      return HUGE_VAL;
    difference += (value - expected[i]) * (value - expected[i]);
    norm += expected[i] * expected[i];
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

/// The sum of the products of corresponding elements.
inline double inner(const std::vector<double> &a, const std::vector<double> &b) {
  double total = 0;
  for (size_t i = 0; i < a.size(); ++i)
    total += a[i] * b[i];
  return total;
}

/// What rounding leaves of a result of this storage: a few units for f32; for bf16 one rounding, at most half a unit of
/// 2^-7.
inline double tolerance(DType dtype) { return dtype == DType::F32 ? 2e-6 : 3.92e-3; }

#define EXPECT_CLOSE(got, expected) EXPECT_LT(relativeError(got, expected), tolerance((got).shape().dtype)) << #got

/// The gradient by central differences of `f` (a scalar in double) at `x`, for checking formulas written by hand.
inline std::vector<double> numericGradient(std::vector<double> x,
                                           const std::function<double(const std::vector<double> &)> &f,
                                           double step = 1e-5) {
  std::vector<double> gradient(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    double saved = x[i];
    x[i] = saved + step;
    double above = f(x);
    x[i] = saved - step;
    gradient[i] = (above - f(x)) / (2 * step);
    x[i] = saved;
  }
  return gradient;
}

/// A segment table for documents of these lengths, as the host fills it (runtime/base/SegmentTable.h); `trained` rows
/// ascending.
HostTensor segmentTable(const BucketShape &bucket, const std::vector<int64_t> &lengths,
                        const std::vector<int64_t> &trained = {});

} // namespace qrt::cpu::test

#endif // TESTS_UNIT_CPU_KERNELHARNESS_H
