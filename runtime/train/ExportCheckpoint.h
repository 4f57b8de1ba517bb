// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trained model as a Hugging Face directory that transformers loads.
#ifndef RUNTIME_TRAIN_EXPORTCHECKPOINT_H
#define RUNTIME_TRAIN_EXPORTCHECKPOINT_H

#include "runtime/train/LoadWeights.h"

#include <span>

namespace qrt {

struct ExportOptions {
  /// Where the weights came from: names, types and order are taken from there, what is not trained is passed through
  /// byte for byte, and the files beside the weights are copied. Null: weights from scratch, in the program's types
  /// under their preferred names, with the program's own config.json.
  const WeightSource *source = nullptr;
  /// A directory whose tokenizer, template and generation files go along where the source has none; empty: none.
  std::string tokenizer = {};
  /// A shard ends before the tensor that would take it over this many bytes.
  int64_t maxShardBytes = CheckpointWriterOptions().maxShardBytes;
};

/// Writes the directory; it appears whole or not at all. A trained weight is its master rounded to nearest, if there is
/// one. InvalidUsage if there is anything at the path but an empty directory.
Status exportCheckpoint(const Session &session, const std::string &directory, const ExportOptions &options);

/// The files of `directory` that belong to a model and hold no weights: configuration, tokenizer, template, generation,
/// licence; sorted.
StatusOr<std::vector<std::string>> companionFiles(const std::string &directory);

/// Whether one of these files is a tokenizer.
bool holdsTokenizer(std::span<const std::string> companions);

} // namespace qrt

#endif // RUNTIME_TRAIN_EXPORTCHECKPOINT_H
