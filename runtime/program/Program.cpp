// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/Program.h"

#include "runtime/base/Json.h"

#include <algorithm>

namespace qrt {

std::string_view spaceName(Space space) {
  switch (space) {
  case Space::State:
    return "state";
  case Space::Gradients:
    return "gradients";
  case Space::Io:
    return "io";
  case Space::Transient:
    return "transient";
  }
  return "?";
}

std::string_view entryKindName(EntryKind kind) {
  switch (kind) {
  case EntryKind::Step:
    return "step";
  case EntryKind::Accumulate:
    return "accumulate";
  case EntryKind::Apply:
    return "apply";
  case EntryKind::Eval:
    return "eval";
  }
  return "?";
}

std::string_view argumentRoleName(ArgumentRole role) {
  switch (role) {
  case ArgumentRole::Ids:
    return "ids";
  case ArgumentRole::Labels:
    return "labels";
  case ArgumentRole::EmbeddingOrder:
    return "embedding_order";
  case ArgumentRole::Segments:
    return "segments";
  case ArgumentRole::InverseTokens:
    return "inverse_tokens";
  case ArgumentRole::Hyper:
    return "hyper";
  case ArgumentRole::Seed:
    return "seed";
  }
  return "?";
}

std::string_view resultRoleName(ResultRole role) {
  switch (role) {
  case ResultRole::Loss:
    return "loss";
  case ResultRole::RowLoss:
    return "row_loss";
  case ResultRole::GradNorm:
    return "grad_norm";
  }
  return "?";
}

std::string_view parameterPartName(ParameterPart part) {
  switch (part) {
  case ParameterPart::Weight:
    return "weight";
  case ParameterPart::Gradient:
    return "gradient";
  case ParameterPart::Master:
    return "master";
  case ParameterPart::ExpAvg:
    return "exp_avg";
  case ParameterPart::ExpAvgSq:
    return "exp_avg_sq";
  }
  return "?";
}

std::string_view instructionName(const Instruction &instruction) {
  if (const Launch *launch = std::get_if<Launch>(&instruction.work))
    return kernelInfo(launch->kernel).name;
  if (std::holds_alternative<Gemm>(instruction.work))
    return "gemm";
  return std::holds_alternative<Copy>(instruction.work) ? "copy" : "fill";
}

std::string Entry::name() const {
  if (kind == EntryKind::Apply)
    return std::string(entryKindName(kind));
  return fmt::format("{} {}", entryKindName(kind), printBucket(bucket));
}

const Parameter *Program::findParameter(std::string_view name) const {
  auto found = std::lower_bound(byName_.begin(), byName_.end(), name, [&](uint32_t index, std::string_view wanted) {
    return parameters_[index].name < wanted;
  });
  return found != byName_.end() && parameters_[*found].name == name ? &parameters_[*found] : nullptr;
}

int64_t Program::deviceCodeBytes() const {
  int64_t bytes = 0;
  for (const DeviceFunction &function : deviceFunctions_)
    bytes += static_cast<int64_t>(function.image.size());
  return bytes;
}

const DeviceFunction *Program::findDeviceFunction(std::string_view name) const {
  auto found =
      std::lower_bound(deviceFunctions_.begin(), deviceFunctions_.end(), name,
                       [](const DeviceFunction &function, std::string_view name) { return function.name < name; });
  return found != deviceFunctions_.end() && found->name == name ? &*found : nullptr;
}

const Entry *Program::findEntry(EntryKind kind, const BucketShape &bucket) const {
  for (const Entry &entry : entries_)
    if (entry.kind == kind && entry.bucket == bucket)
      return &entry;
  return nullptr;
}

SpaceBytes Program::spaceBytes(bool accumulate) const {
  SpaceBytes bytes{stateBytes_, accumulate ? gradientBytes_ : 0, 0, 0};
  for (const Entry &entry : entries_) {
    if (!isNeeded(entry.kind, accumulate))
      continue;
    int64_t &io = bytes[static_cast<int>(Space::Io)], &transient = bytes[static_cast<int>(Space::Transient)];
    io = std::max(io, entry.ioBytes);
    transient = std::max(transient, entry.transientBytes);
  }
  return bytes;
}

Status checkSameState(const Program &program, const Program &other) {
  auto differ = [&](const std::string &what) {
    return error(StatusCode::InvalidData, "{}: {} differs from that of {}: it is not a program of the same state",
                 other.source(), what, program.source());
  };
  if (program.target() != other.target())
    return differ("the target");
  if (program.vocabulary() != other.vocabulary())
    return differ("the vocabulary");
  if (program.parameters().size() != other.parameters().size())
    return differ("the number of parameters");
  for (size_t i = 0; i < program.parameters().size(); ++i)
    if (program.parameters()[i] != other.parameters()[i])
      return differ(fmt::format("parameter {} ({})", i, quoteForMessage(other.parameters()[i].name)));
  if (program.packs() != other.packs())
    return differ("the list of packs");
  if (program.counters() != other.counters())
    return differ("the place of the counters");
  if (program.stateBytes() != other.stateBytes() || program.gradientBytes() != other.gradientBytes())
    return differ("the size of the state");
  return Status();
}

} // namespace qrt
