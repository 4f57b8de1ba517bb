// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some thousand deterministic mutations of right inputs for every reader: none may crash it, and none that it accepts
// may be inconsistent. A mutation is a function of its number, which is printed when one fails.
#include "runtime/base/Philox.h"
#include "runtime/data/Pack.h"
#include "runtime/data/TokenData.h"
#include "tests/fuzz/Seeds.h"
#include "tests/fuzz/Targets.h"
#include "tests/unit/runtime/support/Shards.h"
#include "tests/unit/runtime/support/TempDirectory.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace qrt;

namespace {

constexpr uint32_t mutations = 6000;

/// The mutation at work, for the message of a crash.
volatile uint32_t currentNumber;

void reportCrash(int signal) {
  char text[64];
  int length = std::snprintf(text, sizeof(text), "signal %d in mutation number %u\n", signal, currentNumber);
  if (::write(STDERR_FILENO, text, static_cast<size_t>(length)) < 0)
    ::_exit(2);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Mutator {
public:
  Mutator(uint32_t number, const std::vector<std::string> &seeds) : number_(number), seeds_(seeds) {}

  std::string make() {
    std::string text = seeds_[below(seeds_.size())];
    for (size_t changes = 1 + below(3); changes > 0; --changes)
      change(text);
    return text;
  }

  /// The same for a safetensors file. Most keep a right header length, or little would get past it: either the header
  /// or the data changes.
  std::string makeFile() {
    std::string file = seeds_[below(seeds_.size())];
    if (below(4) == 0)
      return make();
    uint64_t length = 0;
    std::memcpy(&length, file.data(), sizeof(length));
    std::string header = file.substr(sizeof(length), length);
    std::string data = file.substr(sizeof(length) + length);
    for (size_t changes = 1 + below(3); changes > 0; --changes)
      if (below(2) == 0)
        change(header);
      else if (!data.empty())
        // Mostly small numbers, as offsets and masks are.
        data[below(data.size())] = static_cast<char>(below(below(4) == 0 ? 256 : 24));
    length = header.size();
    return std::string(reinterpret_cast<const char *>(&length), sizeof(length)) + header + data;
  }

private:
  size_t below(size_t bound) {
    PhiloxCounter random = philox4x32({number_, drawn_++, 0, 0}, {0x6D757461u, 0x74696F6Eu});
    return uniformBelow(uint64_t{random[0]} << 32 | random[1], bound);
  }

  void change(std::string &text) {
    static const char *const numbers[] = {"0",
                                          "-1",
                                          "1",
                                          "2",
                                          "16",
                                          "17",
                                          "4294967296",
                                          "2147483648",
                                          "1e3",
                                          "0.5",
                                          "9223372036854775807",
                                          "9223372036854775808",
                                          "1e999",
                                          "5e-324",
                                          "-0",
                                          "",
                                          "18446744073709551615",
                                          "4611686018427387904",
                                          "null",
                                          "[]",
                                          "{}",
                                          "\"\""};
    static const char *const pieces[] = {"[",       "]",  "{",   "}",    "\"",      ",",       ":",
                                         "\\u0000", "\n", "../", "\xff", "{\"a\":", "[[[[[[[["};
    if (text.empty()) {
      text = pieces[below(std::size(pieces))];
      return;
    }
    size_t at = below(text.size());
    size_t length = 1 + below(std::min<size_t>(text.size() - at, 16));
    switch (below(9)) {
    case 0: // a bit
      text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
      break;
    case 1: // a byte
      text[at] = static_cast<char>(below(256));
      break;
    case 2: // something is missing
      text.erase(at, length);
      break;
    case 3: // something is there twice
      text.insert(at, text.substr(at, length));
      break;
    case 4: // truncated
      text.resize(at);
      break;
    case 5: { // the next number is another
      size_t begin = std::min(text.find_first_of("0123456789", at), text.size());
      size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
      text.replace(begin, end - begin, numbers[below(std::size(numbers))]);
      break;
    }
    case 6:
      text.insert(at, pieces[below(std::size(pieces))]);
      break;
    case 7: { // part of another input
      const std::string &other = seeds_[below(seeds_.size())];
      size_t from = below(other.size());
      text.replace(at, length, other.substr(from, below(64)));
      break;
    }
    case 8: // a byte near the beginning, where lengths are
      text[below(std::min<size_t>(text.size(), 9))] = static_cast<char>(below(256));
      break;
    }
  }

  uint32_t number_;
  uint32_t drawn_ = 0;
  const std::vector<std::string> &seeds_;
};

class Mutation : public ::testing::Test {
protected:
  void SetUp() override {
    for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE})
      std::signal(signal, reportCrash);
  }
  void TearDown() override {
    for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE})
      std::signal(signal, SIG_DFL);
  }

  template <typename Read>
  void run(const std::vector<std::string> &seeds, Read &&read, std::string (Mutator::*make)() = &Mutator::make) {
    for (const std::string &seed : seeds)
      EXPECT_TRUE(read(asBytes(seed))) << "a right input was refused";
    uint32_t accepted = 0;
    for (uint32_t number = 0; number < mutations; ++number) {
      currentNumber = number;
      // A copy of its own: nothing readable lies behind its end, which a sanitizer sees.
      Mutator mutator(number, seeds);
      std::string text = (mutator.*make)();
      std::vector<uint8_t> input(text.begin(), text.end());
      accepted += read(std::span<const uint8_t>(input));
    }
    std::printf("mutations 0 to %u: %u accepted\n", mutations - 1, accepted);
    EXPECT_LT(accepted, mutations * 9 / 10) << "the mutations break too little";
  }
};

} // namespace

TEST_F(Mutation, Json) {
  std::vector<std::string> seeds = fuzz::manifestSeeds();
  for (const std::string &text : fuzz::indexSeeds())
    seeds.push_back(text);
  run(seeds, fuzz::readJson);
}
TEST_F(Mutation, Safetensors) { run(fuzz::safetensorsSeeds(), fuzz::readSafetensors, &Mutator::makeFile); }
TEST_F(Mutation, SafetensorsIndex) { run(fuzz::indexSeeds(), fuzz::readSafetensorsIndex); }
TEST_F(Mutation, TokenShard) { run(fuzz::shardSeeds(), fuzz::readTokenShard, &Mutator::makeFile); }
TEST_F(Mutation, Manifest) { run(fuzz::manifestSeeds(), fuzz::readManifest); }
TEST_F(Mutation, Jsonl) { run(fuzz::jsonlSeeds(), fuzz::readJsonl); }
TEST_F(Mutation, MachineRates) { run(fuzz::machineSeeds(), fuzz::readMachineRates); }
#ifdef QCC_HAS_CUDA
TEST_F(Mutation, ProductChoices) { run(fuzz::productSeeds(), fuzz::readProductChoices); }
#endif

// A whole directory: whatever is done to its manifest, what opens agrees with the shards.
TEST_F(Mutation, PackedDirectory) {
  test::TempDirectory directory;
  ASSERT_OK(test::writeDocuments(directory / "t", {3, 7, 2, 9, 4, 1, 5}, {.vocabularyBound = 70}));
  auto tokens = TokenData::open(directory / "t", DataKind::Tokens);
  ASSERT_OK(tokens);
  ASSERT_OK(packTokens(*tokens, directory / "p", {.rowLength = 10, .shardTokens = 15}));
  std::vector<std::string> seeds = {*readFile(directory / "p/manifest.json", 1 << 20)};
  uint32_t accepted = 0;
  for (uint32_t number = 0; number < 1500; ++number) {
    currentNumber = number;
    // Not writeFileAtomically, which waits for the disk; so would writing over a file on some file systems.
    std::filesystem::remove(directory / "p/manifest.json");
    std::ofstream(directory / "p/manifest.json", std::ios::binary) << Mutator(number, seeds).make();
    auto data = TokenData::open(directory / "p", DataKind::Packed);
    if (!data.ok())
      continue;
    ++accepted;
    TokenRow row;
    int64_t documents = 0;
    for (int64_t r = 0; r < data->rows(); ++r) {
      data->readRow(r, row);
      documents += row.documents();
      EXPECT_LE(row.tokens(), data->manifest().rowLength) << number;
      EXPECT_EQ(row.tokens(), data->rowShape(r).tokens) << number;
      for (int32_t id : row.ids)
        EXPECT_LT(id, data->manifest().vocabularyBound) << number;
    }
    EXPECT_EQ(documents, 7) << number;
    EXPECT_EQ(data->manifest().tokens, 31) << number;
  }
  std::printf("mutations 0 to 1499: %u accepted\n", accepted);
}
