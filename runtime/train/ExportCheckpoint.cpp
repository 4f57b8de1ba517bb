// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/ExportCheckpoint.h"

#include "runtime/base/Json.h"
#include "runtime/train/Convert.h"

#include <algorithm>

namespace qrt {
namespace {

constexpr const char *kConfig = "config.json";

/// What stands beside the weights in published checkpoints.
constexpr std::string_view kCompanions[] = {"LICENSE",
                                            "added_tokens.json",
                                            "chat_template.jinja",
                                            "chat_template.json",
                                            "config.json",
                                            "generation_config.json",
                                            "merges.txt",
                                            "preprocessor_config.json",
                                            "processor_config.json",
                                            "special_tokens_map.json",
                                            "tokenizer.json",
                                            "tokenizer.model",
                                            "tokenizer_config.json",
                                            "video_preprocessor_config.json",
                                            "vocab.json"};

/// One tensor of the export: a parameter's weight, or bytes of the source.
struct Item {
  TensorSpec spec;
  const Parameter *parameter = nullptr;
  std::span<const uint8_t> bytes;
};

std::vector<Item> itemsOf(const Session &session, const WeightSource *source) {
  std::vector<Item> items;
  const std::vector<Parameter> &parameters = session.program().parameters();
  if (!source) {
    for (const Parameter &parameter : parameters)
      items.push_back({{parameter.checkpointNames[0], parameter.weight().dtype, parameter.shape}, &parameter, {}});
    return items;
  }
  for (const SafetensorsFile &file : source->checkpoint().files())
    for (const TensorSpec &spec : file.tensors()) {
      int64_t index = source->parameterOf(spec.name);
      const Parameter *parameter = index < 0 ? nullptr : &parameters[static_cast<size_t>(index)];
      // What nobody changes keeps its bytes, also where the program's type could not hold them.
      if (parameter && !parameter->frozen)
        items.push_back({spec, parameter, {}});
      else
        items.push_back({spec, nullptr, file.find(spec.name)->bytes});
    }
  return items;
}

Status appendWeights(const Session &session, const Item &item, CheckpointWriter &writer) {
  const Parameter &parameter = *item.parameter;
  ParameterPart part = parameter.part(ParameterPart::Master) ? ParameterPart::Master : ParameterPart::Weight;
  DType from = parameter.part(part)->dtype, to = item.spec.dtype;
  std::vector<uint8_t> stored, bytes;
  std::vector<float> values;
  for (int64_t first = 0; first < parameter.elements; first += kPieceElements) {
    auto count = static_cast<size_t>(std::min(kPieceElements, parameter.elements - first));
    stored.resize(count * static_cast<size_t>(byteSize(from)));
    QRT_RETURN_IF_ERROR(session.readParameter(parameter, part, first, std::as_writable_bytes(std::span(stored))));
    values.resize(count);
    floatsFromBytes(from, stored, values);
    bytes.resize(count * static_cast<size_t>(byteSize(to)));
    bytesFromFloats(to, values, bytes);
    QRT_RETURN_IF_ERROR(writer.append(item.spec.name, bytes));
  }
  return Status();
}

Status writeWeightFiles(const Session &session, const std::string &directory, const ExportOptions &options) {
  std::vector<Item> items = itemsOf(session, options.source);
  std::vector<TensorSpec> specs;
  for (const Item &item : items)
    specs.push_back(item.spec);
  CheckpointWriterOptions writerOptions;
  writerOptions.maxShardBytes = options.maxShardBytes;
  QRT_ASSIGN_OR_RETURN(CheckpointWriter writer, CheckpointWriter::create(directory, std::move(specs), writerOptions));
  for (const Item &item : items)
    QRT_RETURN_IF_ERROR(item.parameter ? appendWeights(session, item, writer)
                                       : writer.append(item.spec.name, item.bytes));
  return writer.finish();
}

Status copyCompanions(const std::string &from, const std::string &to) {
  QRT_ASSIGN_OR_RETURN(std::vector<std::string> names, companionFiles(from));
  for (const std::string &name : names)
    if (!pathExists(joinPath(to, name)))
      QRT_RETURN_IF_ERROR(copyFile(joinPath(from, name), joinPath(to, name)));
  return Status();
}

} // namespace

StatusOr<std::vector<std::string>> companionFiles(const std::string &directory) {
  QRT_ASSIGN_OR_RETURN(std::vector<std::string> names, listDirectory(directory));
  std::erase_if(names, [&](const std::string &name) {
    return std::find(std::begin(kCompanions), std::end(kCompanions), name) == std::end(kCompanions) ||
           isDirectory(joinPath(directory, name));
  });
  return names;
}

bool holdsTokenizer(std::span<const std::string> companions) {
  return std::any_of(companions.begin(), companions.end(), [](const std::string &name) {
    return name == "tokenizer.json" || name == "tokenizer.model" || name == "vocab.json";
  });
}

Status exportCheckpoint(const Session &session, const std::string &directory, const ExportOptions &options) {
  QRT_ASSIGN_OR_RETURN(AtomicDirectory target, AtomicDirectory::create(directory));
  const std::string &partial = target.partialPath();
  QRT_RETURN_IF_ERROR(writeWeightFiles(session, partial, options));
  if (options.source)
    QRT_RETURN_IF_ERROR(copyCompanions(options.source->checkpoint().directory(), partial));
  // The configuration of a model from scratch is the program's, never the tokenizer's neighbour.
  if (!pathExists(joinPath(partial, kConfig)))
    QRT_RETURN_IF_ERROR(writeFileAtomically(joinPath(partial, kConfig), session.program().modelConfig()));
  if (!options.tokenizer.empty())
    QRT_RETURN_IF_ERROR(copyCompanions(options.tokenizer, partial));
  return target.commit();
}

} // namespace qrt
