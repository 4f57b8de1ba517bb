// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Right inputs, which mutations start from.
#ifndef TESTS_FUZZ_SEEDS_H
#define TESTS_FUZZ_SEEDS_H

#include <string>
#include <vector>

namespace qrt::fuzz {

std::vector<std::string> safetensorsSeeds();
std::vector<std::string> indexSeeds();
std::vector<std::string> shardSeeds();
std::vector<std::string> manifestSeeds();
std::vector<std::string> jsonlSeeds();
std::vector<std::string> machineSeeds();
std::vector<std::string> productSeeds();

} // namespace qrt::fuzz

#endif // TESTS_FUZZ_SEEDS_H
