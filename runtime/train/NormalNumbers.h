// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_TRAIN_NORMALNUMBERS_H
#define RUNTIME_TRAIN_NORMALNUMBERS_H

#include <cstdint>
#include <span>

namespace qrt {

/// Standard normal numbers by Box and Muller's method in f64: pair p of a stream makes numbers 2p and 2p + 1 from the
/// four words of Philox4x32-10 (runtime/base/Philox.h) at counter (p, stream) under the key of `seed`. Writes mean +
/// deviation * number, rounded to f32, for the pairs from `firstPair` on; `values` has an even size. The same bits on
/// every processor: additions, products, quotients and roots of IEEE 754 in a fixed order, and no library.
void normalNumbers(uint64_t seed, uint64_t stream, uint64_t firstPair, double mean, double deviation,
                   std::span<float> values);

} // namespace qrt

#endif // RUNTIME_TRAIN_NORMALNUMBERS_H
