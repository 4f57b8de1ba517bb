// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a machine achieves, in a handful of numbers that `qrun calibrate` measures, and how long work takes by them. The
// compiler decides with it what to recompute; `qrun profile` prints it beside what it measures.
//
// A piece of work takes a fixed time, and on top of it its floor (the larger of its operations at the rate of a large
// matrix product and its bytes at the rate of a large copy) divided by the fraction of that floor that such work
// reaches. The fixed time is what small shapes show; one fraction for each kernel is as much as one program tells.
#ifndef RUNTIME_COST_MACHINERATES_H
#define RUNTIME_COST_MACHINERATES_H

#include "runtime/base/Status.h"
#include "runtime/cost/Cost.h"

#include <array>
#include <string>

namespace qrt {

/// Which operands of a matrix product are transposed; in a model these are its forward pass, the gradient of its input
/// and that of its weight.
enum class ProductForm : uint8_t { ABt, AB, AtB };
constexpr int kNumProductForms = 3;
constexpr ProductForm productForm(bool transposeA, bool transposeB) {
  return transposeA ? ProductForm::AtB : transposeB ? ProductForm::ABt : ProductForm::AB;
}

/// Less and more than any work reaches of its floor: what is beyond them is a mistake.
constexpr double kLeastFraction = 1e-12, kMostFraction = 100;

struct MachineRates {
  /// The target of programs that it is about ("sm_90a"), and the machine in words.
  std::string target, machine;
  /// Bytes that a large copy reads and writes, a second.
  double copyRate = 0;
  /// Seconds that a piece of work takes however small it is, and the time until the next begins.
  double launchSeconds = 0;
  /// Of operands in one type: operations a second of a large product, and the fraction of them that a program's reach.
  struct Products {
    double rate = 0;
    std::array<double, kNumProductForms> fractions{};
  };
  Products f32, bf16;
  /// By Kernel: the fraction of its floor that a kernel reaches.
  std::array<double, kNumKernels> kernels{};

  const Products &products(DType dtype) const { return dtype == DType::BF16 ? bf16 : f32; }
};

/// What is known before anything is measured: of an H200 for sm_90a (docs/performance.md, "One H200": 27B widths, 8,192
/// tokens; f32 is an estimate), of two cores with AVX-512 for cpu. Unsupported for another target.
StatusOr<MachineRates> defaultMachineRates(std::string_view target);

/// Reads the file that writeMachineRates writes. InvalidData, naming the key, for one that is missing, unknown, of
/// another type, or no number that is possible. Kernels that it does not name keep their default.
StatusOr<MachineRates> readMachineRates(const std::string &path);
StatusOr<MachineRates> parseMachineRates(std::string_view json, const std::string &source);
/// As JSON text that ends with a line feed.
std::string printMachineRates(const MachineRates &rates);

/// Seconds below which no machine of these rates does the work; `dtype`: what its products' operands are stored in.
double floorSeconds(const MachineRates &rates, DType dtype, const Cost &cost);
/// Seconds that a call of a kernel, a matrix product, or a copy or fill is expected to take.
double predictedSeconds(const MachineRates &rates, Kernel kernel, DType dtype, const Cost &cost);
double predictedProductSeconds(const MachineRates &rates, ProductForm form, DType dtype, const Cost &cost);
double predictedCopySeconds(const MachineRates &rates, const Cost &cost);

/// bf16 where an argument is, else f32: what a call's products are in.
DType storageType(ArgShapes args);

} // namespace qrt

#endif // RUNTIME_COST_MACHINERATES_H
