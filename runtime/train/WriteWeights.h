// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_TRAIN_WRITEWEIGHTS_H
#define RUNTIME_TRAIN_WRITEWEIGHTS_H

#include "runtime/executor/Session.h"

#include <functional>

namespace qrt {

/// Fills elements [first, first + values.size()) of a parameter, by its index in the program. Called by several threads
/// at once.
using FillWeights = std::function<void(size_t parameter, int64_t first, std::span<float> values)>;

/// Writes every parameter as `fill` gives it: to the master, if there is one, and rounded to nearest to the weight. In
/// pieces, by all processors: each thread fills one, converts it in memory that the device copies from fastest, and
/// writes it.
Status writeWeights(Session &session, const FillWeights &fill);

/// Zeroes the moments, the counters and the space of gradients.
Status startOptimizer(Session &session);

} // namespace qrt

#endif // RUNTIME_TRAIN_WRITEWEIGHTS_H
