// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Sampler.h"

#include "runtime/data/Shuffle.h"

#include <algorithm>

namespace qrt {

StatusOr<Sampler> Sampler::create(const SamplerOptions &options) {
  if (options.rows < 1)
    return error(StatusCode::InvalidUsage, "there are no rows to train on");
  if (options.microBatches < 1)
    return error(StatusCode::InvalidUsage, "micro-batches: expected at least 1, got {}", options.microBatches);
  if (options.steps.has_value() == options.epochs.has_value())
    return error(StatusCode::InvalidUsage, "expected either a number of steps or a number of epochs, got {}",
                 options.steps ? "both" : "none");
  int64_t count = options.steps ? *options.steps : *options.epochs;
  // Zero steps: load and export.
  if (count < 0)
    return error(StatusCode::InvalidUsage, "{}: expected at least 0, got {}", options.steps ? "steps" : "epochs",
                 count);
  int64_t total;
  if (__builtin_mul_overflow(count, options.steps ? options.microBatches : options.rows, &total) ||
      total / options.rows >= int64_t{1} << 32)
    return error(StatusCode::InvalidUsage, "{} {} of {} rows are more than 2^32 epochs", count,
                 options.steps ? "steps" : "epochs", options.rows);
  return Sampler(options, total);
}

SamplerState Sampler::state() const { return {drawn_ / options_.rows, drawn_ % options_.rows}; }

Status Sampler::resume(const SamplerState &state) {
  if (state.epoch < 0 || state.position < 0 || state.position >= options_.rows ||
      state.epoch > totalRows_ / options_.rows || state.epoch * options_.rows + state.position > totalRows_)
    return error(StatusCode::InvalidData,
                 "epoch {}, position {} lies outside of a run over {} rows of data with {} each epoch", state.epoch,
                 state.position, totalRows_, options_.rows);
  drawn_ = state.epoch * options_.rows + state.position;
  return Status();
}

int64_t Sampler::rowAt(int64_t drawn) {
  int64_t epoch = drawn / options_.rows;
  int64_t position = drawn % options_.rows;
  if (!options_.shuffle)
    return position;
  if (epoch != orderOf_) {
    order_ = shuffledIndices(options_.rows, options_.seed, ShuffleUse::Rows, static_cast<uint32_t>(epoch));
    orderOf_ = epoch;
  }
  return order_[static_cast<size_t>(position)];
}

std::vector<int64_t> Sampler::next() {
  std::vector<int64_t> rows(static_cast<size_t>(std::min(options_.microBatches, totalRows_ - drawn_)));
  for (int64_t &row : rows)
    row = rowAt(drawn_++);
  return rows;
}

} // namespace qrt
