// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executor/Profile.h"

#include <algorithm>
#include <map>

namespace qrt {
namespace {

double bytesOf(const TensorShape &shape) { return static_cast<double>(shape.elements() * byteSize(shape.dtype)); }

struct Cost {
  double flops = 0, bytes = 0;
};

Cost costOf(const Entry &entry, const Instruction &instruction) {
  auto shape = [&](int32_t index) -> const TensorShape & { return entry.slices[static_cast<size_t>(index)].shape; };
  Cost cost;
  if (const Launch *launch = std::get_if<Launch>(&instruction.work)) {
    std::vector<std::optional<TensorShape>> shapes;
    for (size_t i = 0; i < launch->slices.size(); ++i) {
      shapes.emplace_back();
      if (launch->slices[i] < 0)
        continue;
      shapes.back() = shape(launch->slices[i]);
      cost.bytes += bytesOf(*shapes.back()) * (launch->effects[i] == ArgEffect::InOut ? 2 : 1);
    }
    cost.flops = kernelFlops(launch->kernel, shapes, launch->params, entry.bucket);
  } else if (const Gemm *gemm = std::get_if<Gemm>(&instruction.work)) {
    const TensorShape &a = shape(gemm->a), &c = shape(gemm->c);
    cost.bytes = bytesOf(a) + bytesOf(shape(gemm->b)) + bytesOf(c) * (gemm->accumulate ? 2 : 1);
    cost.flops = 2.0 * static_cast<double>(c.dims[0] * c.dims[1] * a.dims[gemm->transposeA ? 0 : 1]);
  } else if (const Copy *copy = std::get_if<Copy>(&instruction.work)) {
    cost.bytes = 2 * bytesOf(shape(copy->source));
  } else {
    cost.bytes = bytesOf(shape(std::get<Fill>(instruction.work).target));
  }
  return cost;
}

std::string className(const Entry &entry, const Instruction &instruction) {
  const Gemm *gemm = std::get_if<Gemm>(&instruction.work);
  if (!gemm)
    return std::string(instructionName(instruction));
  auto shape = [&](int32_t index) -> const TensorShape & { return entry.slices[static_cast<size_t>(index)].shape; };
  const TensorShape &a = shape(gemm->a), &c = shape(gemm->c);
  return fmt::format("gemm {}x{}x{}{}", c.dims[0], c.dims[1], a.dims[gemm->transposeA ? 0 : 1],
                     gemm->transposeA   ? " a^T b"
                     : gemm->transposeB ? " a b^T"
                                        : " a b");
}

} // namespace

std::vector<ProfileRow> profileRows(const Entry &entry, const ExecutionTimes &times) {
  std::map<std::string, ProfileRow> classes;
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    const Instruction &instruction = entry.instructions[i];
    ProfileRow &row = classes[className(entry, instruction)];
    ++row.calls;
    row.works += times.works[i];
    row.milliseconds += times.instructions[i];
    Cost cost = costOf(entry, instruction);
    row.flops += cost.flops;
    row.bytes += cost.bytes;
  }
  std::vector<ProfileRow> rows;
  for (auto &[name, row] : classes) {
    row.name = name;
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ProfileRow &a, const ProfileRow &b) { return a.milliseconds > b.milliseconds; });
  return rows;
}

std::string profileReport(const Entry &entry, const ExecutionTimes &times, const BucketShape &row) {
  std::string text = fmt::format("{:36} {:>6} {:>6} {:>10} {:>6} {:>9} {:>8} {:>9}\n", "class", "calls", "works", "ms",
                                 "%", "TFLOP/s", "TB/s", "x floor");
  double sum = 0;
  int works = 0;
  for (const ProfileRow &its : profileRows(entry, times)) {
    double seconds = its.milliseconds * 1e-3, floor = 0;
    if (times.copyRate > 0)
      floor = its.bytes / times.copyRate;
    if (times.gemmRate > 0 && its.name.starts_with("gemm"))
      floor = std::max(floor, its.flops / times.gemmRate);
    text += fmt::format("{:36} {:6} {:6} {:10.3f} {:6.1f} {:9.1f} {:8.2f} {:>9}\n", its.name, its.calls, its.works,
                        its.milliseconds, 100 * its.milliseconds / times.run, its.flops / seconds * 1e-12,
                        its.bytes / seconds * 1e-12, floor > 0 ? fmt::format("{:.2f}", seconds / floor) : "-");
    sum += its.milliseconds;
    works += its.works;
  }
  text += fmt::format("\nall instructions, each marked       {:20} {:10.3f} ms\n", works, sum);
  text += fmt::format("a run                                {:30.3f} ms\n", times.run);
  if (times.gemms > 0)
    text += fmt::format("its matrix products alone            {:30.3f} ms; a run is {:.3f} times that\n", times.gemms,
                        times.run / times.gemms);
  if (times.copyRate > 0 || times.gemmRate > 0)
    text += fmt::format("measured just before: copy {:.2f} TB/s, matrix product {:.0f} TFLOP/s\n",
                        times.copyRate * 1e-12, times.gemmRate * 1e-12);
  double seconds = times.run * 1e-3;
  if (entry.bucket.tokens > 0)
    text += fmt::format("tokens a second: {:.0f} trained, {:.0f} real, {:.0f} slots\n",
                        static_cast<double>(row.trained) / seconds, static_cast<double>(row.tokens) / seconds,
                        static_cast<double>(entry.bucket.tokens) / seconds);
  return text;
}

} // namespace qrt
