// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/InstructionCost.h"

#include <algorithm>

namespace qrt {

static const TensorShape &shapeOf(const Entry &entry, int32_t slice) {
  return entry.slices[static_cast<size_t>(slice)].shape;
}

static std::vector<std::optional<TensorShape>> shapesOf(const Entry &entry, const Launch &launch) {
  std::vector<std::optional<TensorShape>> shapes;
  for (int32_t slice : launch.slices)
    shapes.push_back(slice < 0 ? std::nullopt : std::optional(shapeOf(entry, slice)));
  return shapes;
}

Cost instructionCost(const Entry &entry, const Instruction &instruction, int64_t longest) {
  if (const Launch *launch = std::get_if<Launch>(&instruction.work)) {
    BucketShape bucket = entry.bucket;
    bucket.longest = longest;
    return launchCost(launch->kernel, shapesOf(entry, *launch), launch->effects, launch->params, bucket,
                      launch->expressionOrNull());
  }
  if (const Gemm *gemm = std::get_if<Gemm>(&instruction.work))
    return productCost(shapeOf(entry, gemm->a), shapeOf(entry, gemm->b), shapeOf(entry, gemm->c), gemm->transposeA,
                       gemm->accumulate);
  if (const Copy *copy = std::get_if<Copy>(&instruction.work))
    return copyCost(shapeOf(entry, copy->source));
  return fillCost(shapeOf(entry, std::get<Fill>(instruction.work).target));
}

DType instructionStorage(const Entry &entry, const Instruction &instruction) {
  if (const Launch *launch = std::get_if<Launch>(&instruction.work))
    return storageType(shapesOf(entry, *launch));
  if (const Gemm *gemm = std::get_if<Gemm>(&instruction.work))
    return shapeOf(entry, gemm->a).dtype;
  return DType::F32;
}

DType entryStorage(const Entry &entry) {
  bool isBf16 = std::any_of(entry.instructions.begin(), entry.instructions.end(), [&](const Instruction &instruction) {
    return instructionStorage(entry, instruction) == DType::BF16;
  });
  return isBf16 ? DType::BF16 : DType::F32;
}

double floorSeconds(const MachineRates &rates, const Entry &entry, const Instruction &instruction, const Cost &cost) {
  return floorSeconds(rates, instructionStorage(entry, instruction), cost);
}

double predictedSeconds(const MachineRates &rates, const Entry &entry, const Instruction &instruction,
                        const Cost &cost) {
  DType storage = instructionStorage(entry, instruction);
  if (const Launch *launch = std::get_if<Launch>(&instruction.work))
    return predictedSeconds(rates, launch->kernel, storage, cost);
  if (const Gemm *gemm = std::get_if<Gemm>(&instruction.work))
    return predictedProductSeconds(rates, productForm(gemm->transposeA, gemm->transposeB), storage, cost);
  return predictedCopySeconds(rates, cost);
}

} // namespace qrt
