// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_TRAIN_INITIALIZE_H
#define RUNTIME_TRAIN_INITIALIZE_H

#include "runtime/executor/Session.h"

namespace qrt {

/// Elements [first, first + values.size()) of a parameter's initial value. A number depends on the seed, the preferred
/// checkpoint name and the element's index alone (Philox4x32-10, runtime/base/Philox.h), not on programs, packs or the
/// order of parameters; normal ones as in NormalNumbers.h.
void initialValues(const Parameter &parameter, uint64_t seed, int64_t first, std::span<float> values);

/// Gives every parameter its initial value (a bf16 weight is its f32 value rounded to nearest), and starts the
/// optimizer.
Status initializeWeights(Session &session, uint64_t seed);

} // namespace qrt

#endif // RUNTIME_TRAIN_INITIALIZE_H
