// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_TRAIN_EVALUATE_H
#define RUNTIME_TRAIN_EVALUATE_H

#include "runtime/data/TokenData.h"
#include "runtime/executor/Session.h"

#include <functional>
#include <string>

namespace qrt {

struct EvalOptions {
  /// Where to write each row's hidden states (row-NNNNN.safetensors, "hidden.I" [tokens of the bucket, hidden]); empty:
  /// nowhere.
  std::string dumpHidden;
  /// Where to write the loss of every trained token (row-NNNNN.safetensors, "position" i32 and "loss" f32); empty:
  /// nowhere.
  std::string dumpLosses;
  /// Called after each row: the rows that are behind it, and the loss so far (NaN while no token was trained).
  std::function<void(int64_t rows, double loss)> progress;
};

struct EvalResult {
  /// Mean over the trained tokens.
  double loss = 0;
  int64_t trainedTokens = 0;
  double milliseconds = 0;
};

/// The loss on all rows of `data`, in their order. InvalidData if no token is trained.
StatusOr<EvalResult> evaluate(Session &session, const TokenData &data, const EvalOptions &options = {});

} // namespace qrt

#endif // RUNTIME_TRAIN_EVALUATE_H
