// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is done with hostile input, by the fuzzers and by the mutation test alike: it is read, and if it is accepted,
// all that the reader promises is checked again, by other means. A broken promise aborts the program.
#ifndef TESTS_FUZZ_TARGETS_H
#define TESTS_FUZZ_TARGETS_H

#include <cstdint>
#include <span>

namespace qrt::fuzz {

/// Each returns whether the reader accepted the input.
bool readJson(std::span<const uint8_t> input);
bool readSafetensors(std::span<const uint8_t> input);
bool readSafetensorsIndex(std::span<const uint8_t> input);
/// A shard of a vocabulary of shardVocabulary ids, with rows of at most shardRowLength tokens if it has rows.
bool readTokenShard(std::span<const uint8_t> input);
bool readManifest(std::span<const uint8_t> input);
bool readJsonl(std::span<const uint8_t> input);
/// What `qrun calibrate` writes.
bool readMachineRates(std::span<const uint8_t> input);
#ifdef QCC_HAS_CUDA
/// The products.json of a run, and the choices that the cache keeps.
bool readProductChoices(std::span<const uint8_t> input);
#endif

constexpr int64_t shardVocabulary = 64;
constexpr int64_t shardRowLength = 16;

} // namespace qrt::fuzz

#endif // TESTS_FUZZ_TARGETS_H
