// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/LoadWeights.h"

#include "runtime/base/Json.h"
#include "runtime/train/Convert.h"
#include "runtime/train/WriteWeights.h"

#include <algorithm>
#include <set>

namespace qrt {

namespace {

/// The longest common beginning of the names that ends with a dot; of a single name, all before its last dot but one.
std::string commonPrefix(const std::vector<std::string> &names) {
  if (names.empty())
    return "";
  std::string_view prefix = names[0];
  for (std::string_view name : names)
    prefix = prefix.substr(
        0, static_cast<size_t>(std::mismatch(prefix.begin(), prefix.end(), name.begin(), name.end()).first -
                               prefix.begin()));
  size_t dot = prefix.rfind('.');
  return std::string(prefix.substr(0, dot == std::string_view::npos ? 0 : dot + 1));
}

/// "lm_head." of "lm_head.weight": the module of a tensor.
std::string_view moduleOf(std::string_view tensor) { return tensor.substr(0, tensor.rfind('.') + 1); }

} // namespace

std::string WeightSource::place(const std::string &tensor) const {
  for (const SafetensorsFile &file : checkpoint_.files())
    if (file.find(tensor))
      return file.path();
  return checkpoint_.directory();
}

int64_t WeightSource::parameterOf(const std::string &tensor) const {
  auto found = parameterOf_.find(tensor);
  return found == parameterOf_.end() ? -1 : found->second;
}

StatusOr<WeightSource> WeightSource::open(const Program &program, const std::string &directory) {
  QRT_ASSIGN_OR_RETURN(CheckpointReader checkpoint, CheckpointReader::open(directory));
  WeightSource source(std::move(checkpoint));
  QRT_RETURN_IF_ERROR(source.match(program));
  return source;
}

Status WeightSource::matchParameter(const Parameter &parameter) {
  const std::string *found = nullptr;
  for (const std::string &name : parameter.checkpointNames) {
    if (!checkpoint_.find(name))
      continue;
    if (found)
      return error(StatusCode::InvalidData, "{}: parameter {} is there twice, as {} and as {}", checkpoint_.directory(),
                   quoteForMessage(parameter.name), quoteForMessage(*found), quoteForMessage(name));
    found = &name;
  }
  if (!found)
    return error(StatusCode::InvalidData, "{}: no tensor for parameter {}: expected one of the names {}",
                 checkpoint_.directory(), quoteForMessage(parameter.name), fmt::join(parameter.checkpointNames, ", "));
  const TensorSpec &spec = *checkpoint_.find(*found)->spec;
  if (spec.shape != parameter.shape)
    return error(StatusCode::InvalidData, "{}: tensor {}: expected the shape [{}], got {}", place(*found),
                 quoteForMessage(*found), fmt::join(parameter.shape, ", "), printType(spec));
  if (!isFloatType(spec.dtype))
    return error(StatusCode::InvalidData, "{}: tensor {}: expected f32, bf16, f16 or f64, got {}", place(*found),
                 quoteForMessage(*found), printType(spec));
  parameterOf_.emplace(*found, static_cast<int64_t>(tensorOf_.size()));
  tensorOf_.push_back(*found);
  return Status();
}

Status WeightSource::matchTied(size_t index, const Parameter &parameter) {
  TensorView own = *checkpoint_.find(tensorOf_[index]);
  for (const std::string &name : parameter.tiedNames) {
    std::optional<TensorView> tied = checkpoint_.find(name);
    if (!tied)
      continue;
    std::string what = fmt::format("{}: tensor {}: it is tied to {}", place(name), quoteForMessage(name),
                                   quoteForMessage(tensorOf_[index]));
    if (tied->spec->dtype != own.spec->dtype || tied->spec->shape != own.spec->shape)
      return error(StatusCode::InvalidData, "{}, so {} is expected, got {}", what, printType(*own.spec),
                   printType(*tied->spec));
    auto differ = std::mismatch(tied->bytes.begin(), tied->bytes.end(), own.bytes.begin()).first;
    if (differ != tied->bytes.end())
      return error(StatusCode::InvalidData, "{}, but element {} differs: should the model's config tie the two?", what,
                   (differ - tied->bytes.begin()) / byteSize(own.spec->dtype));
    parameterOf_.emplace(name, static_cast<int64_t>(index));
  }
  return Status();
}

Status WeightSource::match(const Program &program) {
  std::vector<std::string> prefixed;
  // Modules of tensors that all checkpoints call the same, as the head: no others belong there.
  std::set<std::string_view> modules;
  for (const Parameter &parameter : program.parameters()) {
    QRT_RETURN_IF_ERROR(matchParameter(parameter));
    if (parameter.checkpointNames.size() > 1)
      prefixed.push_back(tensorOf_.back());
    else
      modules.insert(moduleOf(parameter.checkpointNames[0]));
    for (const std::string &name : parameter.tiedNames)
      modules.insert(moduleOf(name));
  }
  for (size_t i = 0; i < program.parameters().size(); ++i)
    QRT_RETURN_IF_ERROR(matchTied(i, program.parameters()[i]));
  std::string prefix = commonPrefix(prefixed);
  for (const TensorSpec &spec : checkpoint_.tensors()) {
    if (parameterOf_.contains(spec.name))
      continue;
    bool isOther = std::any_of(program.otherTensors().begin(), program.otherTensors().end(),
                               [&](std::string_view part) { return spec.name.starts_with(part); });
    if (!isOther && (spec.name.starts_with(prefix) || modules.contains(moduleOf(spec.name))))
      return error(StatusCode::InvalidData,
                   "{}: tensor {}, {}, is none of the model's: expected only its {} parameters under '{}'",
                   place(spec.name), quoteForMessage(spec.name), printType(spec), program.parameters().size(), prefix);
    passedThrough_.push_back(spec.name);
  }
  return Status();
}

Status loadWeights(Session &session, const WeightSource &source) {
  std::vector<TensorView> tensors;
  for (size_t i = 0; i < session.program().parameters().size(); ++i) {
    QRT_ASSIGN_OR_RETURN(TensorView tensor, source.checkpoint().tensor(source.tensorOf(i)));
    tensors.push_back(tensor);
  }
  QRT_RETURN_IF_ERROR(writeWeights(session, [&](size_t parameter, int64_t first, std::span<float> values) {
    const TensorView &tensor = tensors[parameter];
    auto size = static_cast<size_t>(byteSize(tensor.spec->dtype));
    floatsFromBytes(tensor.spec->dtype, tensor.bytes.subspan(static_cast<size_t>(first) * size, values.size() * size),
                    values);
  }));
  return startOptimizer(session);
}

} // namespace qrt
