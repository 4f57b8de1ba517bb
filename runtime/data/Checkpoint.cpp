// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Checkpoint.h"

#include "runtime/base/Json.h"

#include <algorithm>
#include <set>

namespace qrt {

namespace {

constexpr const char *kSingleName = "model.safetensors";
constexpr const char *kIndexName = "model.safetensors.index.json";

} // namespace

StatusOr<SafetensorsIndex> SafetensorsIndex::parse(std::string_view text, const std::string &source) {
  QRT_ASSIGN_OR_RETURN(Json json, parseJson(text, source));
  QRT_ASSIGN_OR_RETURN(JsonObject root, JsonObject::root(json, source));
  QRT_ASSIGN_OR_RETURN(JsonObject weights, root.object("weight_map"));
  SafetensorsIndex index;
  for (const auto &[tensor, unused] : weights.members()) {
    QRT_ASSIGN_OR_RETURN(std::string shard, weights.string(tensor));
    if (!isPlainFileName(shard))
      return error(StatusCode::InvalidData, "{}: {}: expected the name of a file in the same directory, got {}", source,
                   quoteForMessage(tensor), quoteForMessage(shard));
    index.shardOf.emplace(tensor, std::move(shard));
  }
  if (index.shardOf.empty())
    return error(StatusCode::InvalidData, "{}: weight_map: names no tensor", source);
  return index;
}

StatusOr<CheckpointReader> CheckpointReader::open(const std::string &directory) {
  CheckpointReader reader;
  reader.directory_ = directory;
  std::string single = joinPath(directory, kSingleName);
  if (pathExists(single)) {
    QRT_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::open(single));
    for (const TensorSpec &tensor : file.tensors())
      reader.fileOf_.emplace(tensor.name, 0);
    reader.files_.push_back(std::move(file));
    return reader;
  }

  std::string indexPath = joinPath(directory, kIndexName);
  if (!pathExists(indexPath))
    return error(StatusCode::Io, "{}: neither {} nor {} is there", directory, kSingleName, kIndexName);
  QRT_ASSIGN_OR_RETURN(std::string text, readFile(indexPath, JsonLimits().maxBytes));
  QRT_ASSIGN_OR_RETURN(SafetensorsIndex index, SafetensorsIndex::parse(text, indexPath));
  std::set<std::string> shards;
  for (const auto &[tensor, shard] : index.shardOf)
    shards.insert(shard);
  for (const std::string &shard : shards) {
    QRT_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::open(joinPath(directory, shard)));
    for (const TensorSpec &tensor : file.tensors()) {
      auto listed = index.shardOf.find(tensor.name);
      if (listed == index.shardOf.end() || listed->second != shard)
        return error(StatusCode::InvalidData, "{}: holds {}, which {} says is {}", file.path(),
                     quoteForMessage(tensor.name), kIndexName,
                     listed == index.shardOf.end() ? "nowhere" : "in " + quoteForMessage(listed->second));
      reader.fileOf_.emplace(tensor.name, reader.files_.size());
    }
    reader.files_.push_back(std::move(file));
  }
  for (const auto &[tensor, shard] : index.shardOf)
    if (!reader.fileOf_.contains(tensor))
      return error(StatusCode::InvalidData, "{}: {} is said to be in {}, which does not hold it", indexPath,
                   quoteForMessage(tensor), quoteForMessage(shard));
  return reader;
}

std::vector<TensorSpec> CheckpointReader::tensors() const {
  std::vector<TensorSpec> all;
  for (const auto &[name, file] : fileOf_)
    all.push_back(*files_[file].find(name)->spec);
  return all;
}

std::optional<TensorView> CheckpointReader::find(const std::string &name) const {
  auto found = fileOf_.find(name);
  if (found == fileOf_.end())
    return std::nullopt;
  return files_[found->second].find(name);
}

StatusOr<TensorView> CheckpointReader::tensor(const std::string &name) const {
  std::optional<TensorView> found = find(name);
  if (!found)
    return error(StatusCode::InvalidData, "{}: no tensor {}", directory_, quoteForMessage(name));
  return *found;
}

StatusOr<CheckpointWriter> CheckpointWriter::create(const std::string &directory, std::vector<TensorSpec> tensors,
                                                    CheckpointWriterOptions options) {
  QRT_RETURN_IF_ERROR(createDirectories(directory));
  QRT_ASSIGN_OR_RETURN(std::vector<std::string> names, listDirectory(directory));
  for (const std::string &name : names)
    if (name.ends_with(".safetensors") || name == kIndexName)
      return error(StatusCode::InvalidUsage, "{}: expected a directory without weights, but it holds '{}'", directory,
                   name);

  CheckpointWriter writer;
  writer.directory_ = directory;
  writer.options_ = std::move(options);
  writer.shards_.emplace_back();
  int64_t shardBytes = 0;
  for (TensorSpec &tensor : tensors) {
    StatusOr<int64_t> bytes = tensorBytes(tensor);
    if (!bytes.ok())
      return std::move(bytes).status().withContext(directory);
    if (__builtin_add_overflow(writer.totalBytes_, *bytes, &writer.totalBytes_))
      return error(StatusCode::InvalidData, "{}: more bytes than 63 bits can count", directory);
    // Not shardBytes + bytes, which may overflow.
    if (!writer.shards_.back().empty() && *bytes > writer.options_.maxShardBytes - shardBytes) {
      writer.shards_.emplace_back();
      shardBytes = 0;
    }
    shardBytes += *bytes;
    if (!writer.shardOf_.emplace(tensor.name, writer.shards_.size() - 1).second)
      return error(StatusCode::InvalidData, "{}: tensor {} is there twice", directory, quoteForMessage(tensor.name));
    writer.shards_.back().push_back(std::move(tensor));
  }
  QRT_RETURN_IF_ERROR(writer.startShard(0));
  return writer;
}

std::string CheckpointWriter::shardName(size_t index) const {
  if (shards_.size() == 1)
    return kSingleName;
  return fmt::format("model-{:05}-of-{:05}.safetensors", index + 1, shards_.size());
}

Status CheckpointWriter::startShard(size_t index) {
  if (writer_) {
    QRT_ASSIGN_OR_RETURN(std::string unused, writer_->finish());
    writer_.reset();
  }
  current_ = index;
  if (index == shards_.size())
    return Status();
  QRT_ASSIGN_OR_RETURN(SafetensorsWriter writer, SafetensorsWriter::create(joinPath(directory_, shardName(index)),
                                                                           shards_[index], options_.metadata));
  writer_.emplace(std::move(writer));
  return Status();
}

Status CheckpointWriter::append(const std::string &name, std::span<const uint8_t> bytes) {
  auto shard = shardOf_.find(name);
  if (shard == shardOf_.end())
    return error(StatusCode::InvalidData, "{}: no tensor {} was announced", directory_, quoteForMessage(name));
  // An earlier shard's writer is gone, and the current one refuses the name; a shard is left only when it is complete.
  while (current_ < shard->second)
    QRT_RETURN_IF_ERROR(startShard(current_ + 1));
  if (!writer_)
    return error(StatusCode::InvalidData, "{}: bytes of {} came after the end", directory_, quoteForMessage(name));
  return writer_->append(name, bytes);
}

Status CheckpointWriter::finish() {
  while (current_ < shards_.size())
    QRT_RETURN_IF_ERROR(startShard(current_ + 1));
  if (shards_.size() == 1)
    return Status();
  Json weights = Json::object();
  for (const auto &[tensor, shard] : shardOf_)
    weights[tensor] = shardName(shard);
  Json index = {{"metadata", {{"total_size", totalBytes_}}}, {"weight_map", std::move(weights)}};
  return writeFileAtomically(joinPath(directory_, kIndexName), index.dump(2) + "\n");
}

} // namespace qrt
