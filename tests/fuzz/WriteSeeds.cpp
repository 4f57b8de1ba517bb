// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the seeds as corpora for the fuzzers: DIR/safetensors/0, ...
#include "runtime/base/File.h"
#include "tests/fuzz/Seeds.h"

#include <cstdio>

using namespace qrt;

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIR\n", argv[0]);
    return 2;
  }
  std::pair<const char *, std::vector<std::string>> corpora[] = {
      {"json", fuzz::manifestSeeds()},   {"safetensors", fuzz::safetensorsSeeds()}, {"index", fuzz::indexSeeds()},
      {"shard", fuzz::shardSeeds()},     {"manifest", fuzz::manifestSeeds()},       {"jsonl", fuzz::jsonlSeeds()},
      {"machine", fuzz::machineSeeds()}, {"products", fuzz::productSeeds()}};
  for (const auto &[name, seeds] : corpora) {
    std::string directory = joinPath(argv[1], name);
    Status status = createDirectories(directory);
    for (size_t i = 0; status.ok() && i < seeds.size(); ++i)
      status = writeFileAtomically(joinPath(directory, std::to_string(i)), seeds[i]);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.message().c_str());
      return 1;
    }
  }
  return 0;
}
