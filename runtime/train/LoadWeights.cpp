// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/LoadWeights.h"

#include "runtime/base/Json.h"
#include "runtime/train/Convert.h"
#include "runtime/train/Initialize.h"

#include <algorithm>

namespace qrt {

namespace {

/// The names of Hugging Face's causal language models that have a meaning here.
constexpr std::string_view kHead = "lm_head.weight", kEmbedding = "embed_tokens.weight";
/// Parts of a published checkpoint beside the text model, whatever prefix that has.
constexpr std::string_view kOtherParts[] = {"mtp.", "model.visual."};

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

Status WeightSource::matchHead(const Program &program) {
  std::optional<TensorView> head = checkpoint_.find(std::string(kHead));
  if (!head || parameterOf_.contains(std::string(kHead)))
    return Status();
  for (size_t i = 0; i < program.parameters().size(); ++i) {
    if (program.parameters()[i].name != kEmbedding)
      continue;
    TensorView embedding = *checkpoint_.find(tensorOf_[i]);
    if (head->spec->dtype != embedding.spec->dtype || head->spec->shape != embedding.spec->shape)
      return error(StatusCode::InvalidData,
                   "{}: tensor '{}': the model's head is tied to its embedding, {}, so {} is expected, got {}",
                   place(std::string(kHead)), kHead, quoteForMessage(tensorOf_[i]), printType(*embedding.spec),
                   printType(*head->spec));
    auto differ = std::mismatch(head->bytes.begin(), head->bytes.end(), embedding.bytes.begin()).first;
    if (differ != head->bytes.end())
      return error(StatusCode::InvalidData,
                   "{}: tensor '{}': the model's head is tied to its embedding, {}, but element {} differs: is "
                   "tie_word_embeddings right?",
                   place(std::string(kHead)), kHead, quoteForMessage(tensorOf_[i]),
                   (differ - head->bytes.begin()) / byteSize(head->spec->dtype));
    parameterOf_.emplace(kHead, static_cast<int64_t>(i));
    return Status();
  }
  return Status();
}

Status WeightSource::match(const Program &program) {
  std::vector<std::string> prefixed;
  for (const Parameter &parameter : program.parameters()) {
    QRT_RETURN_IF_ERROR(matchParameter(parameter));
    // A parameter of one name, as the head, is at the top of all checkpoints.
    if (parameter.checkpointNames.size() > 1)
      prefixed.push_back(tensorOf_.back());
  }
  QRT_RETURN_IF_ERROR(matchHead(program));
  std::string prefix = commonPrefix(prefixed);
  for (const TensorSpec &spec : checkpoint_.tensors()) {
    if (parameterOf_.contains(spec.name))
      continue;
    bool isOther = std::any_of(std::begin(kOtherParts), std::end(kOtherParts),
                               [&](std::string_view part) { return spec.name.starts_with(part); });
    if (!isOther && (spec.name.starts_with(prefix) || spec.name.starts_with("lm_head.")))
      return error(StatusCode::InvalidData,
                   "{}: tensor {}, {}, is none of the model's: expected only its {} parameters under '{}'",
                   place(spec.name), quoteForMessage(spec.name), printType(spec), program.parameters().size(), prefix);
    passedThrough_.push_back(spec.name);
  }
  return Status();
}

Status loadWeights(Session &session, const WeightSource &source) {
  std::vector<float> values;
  const std::vector<Parameter> &parameters = session.program().parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    QRT_ASSIGN_OR_RETURN(TensorView tensor, source.checkpoint().tensor(source.tensorOf(i)));
    auto size = static_cast<size_t>(byteSize(tensor.spec->dtype));
    for (int64_t first = 0; first < parameters[i].elements; first += kPieceElements) {
      values.resize(static_cast<size_t>(std::min(kPieceElements, parameters[i].elements - first)));
      floatsFromBytes(tensor.spec->dtype, tensor.bytes.subspan(static_cast<size_t>(first) * size, values.size() * size),
                      values);
      QRT_RETURN_IF_ERROR(writeWeights(session, parameters[i], first, values));
    }
  }
  return startOptimizer(session);
}

} // namespace qrt
