// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which rows a step trains on.
#ifndef RUNTIME_DATA_SAMPLER_H
#define RUNTIME_DATA_SAMPLER_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace qrt {

struct SamplerOptions {
  /// Rows of the data.
  int64_t rows = 0;
  /// Rows of a step.
  int64_t microBatches = 1;
  /// Exactly one of the two.
  std::optional<int64_t> steps = std::nullopt;
  std::optional<int64_t> epochs = std::nullopt;
  uint64_t seed = 0;
  /// False: the data's own order in every epoch.
  bool shuffle = true;
};

/// Where a sampler is: the next row is number `position` of epoch `epoch`. All a checkpoint needs beside the options.
struct SamplerState {
  int64_t epoch = 0;
  int64_t position = 0;

  bool operator==(const SamplerState &) const = default;
};

/// The rows of an endless sequence of epochs, each in its own order (a function of seed and epoch alone), in steps of
/// `microBatches`. A step may reach into the next epoch. With `epochs` every row comes exactly that often, so the last
/// step may have fewer rows; with `steps` every step has all of them.
class Sampler {
public:
  /// InvalidUsage for options that make no sense or exceed 2^32 epochs.
  static StatusOr<Sampler> create(const SamplerOptions &options);

  /// Steps of the whole run.
  int64_t steps() const { return totalRows_ / options_.microBatches + (totalRows_ % options_.microBatches != 0); }
  /// The state before the next step.
  SamplerState state() const;
  /// Goes on from a state; InvalidData if it lies outside of the run.
  Status resume(const SamplerState &state);

  /// The rows of the next step; empty at the end.
  std::vector<int64_t> next();

private:
  Sampler(const SamplerOptions &options, int64_t totalRows) : options_(options), totalRows_(totalRows) {}
  int64_t rowAt(int64_t drawn);

  SamplerOptions options_;
  int64_t totalRows_;
  /// Rows drawn so far, over all epochs.
  int64_t drawn_ = 0;
  /// The order of the epoch `orderOf_`.
  std::vector<int64_t> order_;
  int64_t orderOf_ = -1;
};

} // namespace qrt

#endif // RUNTIME_DATA_SAMPLER_H
