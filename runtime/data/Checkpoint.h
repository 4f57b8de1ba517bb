// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The weights of a Hugging Face directory: `model.safetensors`, or shards and `model.safetensors.index.json`.
#ifndef RUNTIME_DATA_CHECKPOINT_H
#define RUNTIME_DATA_CHECKPOINT_H

#include "runtime/base/Status.h"
#include "runtime/data/Safetensors.h"
#include "runtime/data/SafetensorsWriter.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qrt {

/// Which shard has which tensor: `model.safetensors.index.json`.
struct SafetensorsIndex {
  /// Tensor name to file name, a plain name in the index's directory.
  std::map<std::string, std::string> shardOf;

  /// Checks what the text says by itself: InvalidData for a shard that is not a plain file name (so no path leaves the
  /// directory) and for an index without tensors.
  static StatusOr<SafetensorsIndex> parse(std::string_view text, const std::string &source);
};

/// All tensors of a directory, mapped. Each keeps the type that its file says.
class CheckpointReader {
public:
  /// `model.safetensors` is taken if it is there, as transformers does. InvalidData if the index and the shards
  /// disagree in any direction.
  static StatusOr<CheckpointReader> open(const std::string &directory);

  const std::string &directory() const { return directory_; }
  /// Sorted by name.
  std::vector<TensorSpec> tensors() const;
  const std::vector<SafetensorsFile> &files() const { return files_; }

  std::optional<TensorView> find(const std::string &name) const;
  /// InvalidData, naming the directory, if there is none of this name.
  StatusOr<TensorView> tensor(const std::string &name) const;

private:
  CheckpointReader() = default;

  std::string directory_;
  std::vector<SafetensorsFile> files_;
  /// Tensor name to its file in files_.
  std::map<std::string, size_t> fileOf_;
};

struct CheckpointWriterOptions {
  /// A shard ends before the tensor that would take it over this many bytes; one tensor may exceed it alone.
  int64_t maxShardBytes = int64_t{5} * 1000 * 1000 * 1000;
  /// transformers refuses a file that does not say its format.
  std::map<std::string, std::string> metadata = {{"format", "pt"}};
};

/// Writes `model.safetensors`, or numbered shards and last their index, so that an interrupted directory is not taken
/// for a checkpoint. Memory: the headers and a buffer.
class CheckpointWriter {
public:
  /// The tensors in the order in which they will come. The directory is created; InvalidUsage if it holds weights
  /// already.
  static StatusOr<CheckpointWriter> create(const std::string &directory, std::vector<TensorSpec> tensors,
                                           CheckpointWriterOptions options = {});

  /// The next bytes of tensor `name`, all of it or a piece.
  Status append(const std::string &name, std::span<const uint8_t> bytes);

  Status finish();

private:
  CheckpointWriter() = default;
  Status startShard(size_t index);
  std::string shardName(size_t index) const;

  std::string directory_;
  CheckpointWriterOptions options_;
  std::vector<std::vector<TensorSpec>> shards_;
  std::map<std::string, size_t> shardOf_;
  int64_t totalBytes_ = 0;
  size_t current_ = 0;
  std::optional<SafetensorsWriter> writer_;
};

} // namespace qrt

#endif // RUNTIME_DATA_CHECKPOINT_H
