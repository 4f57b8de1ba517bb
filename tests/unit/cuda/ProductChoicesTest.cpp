// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/ChoicesFile.h"
#include "runtime/base/File.h"
#include "tests/unit/runtime/support/StatusMatchers.h"
#include "tests/unit/runtime/support/TempDirectory.h"

namespace qrt::cuda {
namespace {

using qrt::test::TempDirectory;

ProductChoices someChoices() {
  ProductChoices choices("NVIDIA H200", "cuBLASLt 13.1.0");
  choices.set("8x4x2 bf16 -> f32, a^T b", {{{1, 2, 3, 4, 5, 6, 7, ~uint64_t{0}}}, ProductChoice::Reason::Timed});
  choices.set("16x4x2 bf16 -> f32, a b", {{{}}, ProductChoice::Reason::First});
  choices.set("8x4x2 f32 -> f32, a b", {{{9}}, ProductChoice::Reason::Given});
  return choices;
}

TEST(ProductChoices, RoundTrip) {
  std::string text = someChoices().print();
  StatusOr<ProductChoices> read = ProductChoices::parse(text, "p.json");
  ASSERT_OK(read);
  EXPECT_EQ(read->print(), text);
  EXPECT_EQ(read->size(), 3u);
  const ProductChoice *choice = read->find("8x4x2 bf16 -> f32, a^T b");
  ASSERT_TRUE(choice);
  EXPECT_TRUE(choice->algorithm == (LtAlgorithm{{1, 2, 3, 4, 5, 6, 7, ~uint64_t{0}}}));
  EXPECT_EQ(choice->reason, ProductChoice::Reason::Timed);
  EXPECT_EQ(read->find("16x4x2 bf16 -> f32, a b")->reason, ProductChoice::Reason::First);
  EXPECT_EQ(read->find("8x4x2 f32 -> f32, a b")->reason, ProductChoice::Reason::Given);
  EXPECT_EQ(read->find("8x4x2"), nullptr);
}

// Of two processes that chose differently, both take what the first settled.
TEST(ChoicesFile, TheFirstIsTakenByAll) {
  TempDirectory directory;
  ProductChoices machine("NVIDIA H200", "cuBLASLt 13.1.0");
  ChoicesFile file(directory / "made/choices.json", machine);
  EXPECT_EQ(file.read().size(), 0u);
  ProductChoices first = machine, second = machine;
  first.set("a", {{{1}}, ProductChoice::Reason::Timed});
  second.set("a", {{{2}}, ProductChoice::Reason::Timed});
  second.set("b", {{{3}}, ProductChoice::Reason::Timed});
  second.set("given", {{{4}}, ProductChoice::Reason::Given});
  ASSERT_OK(file.settle(first, std::vector<std::string>{"a"}, machine));
  ASSERT_OK(file.settle(second, std::vector<std::string>{"a", "b"}, machine));
  EXPECT_EQ(first.find("a")->algorithm.data[0], 1u);
  EXPECT_EQ(second.find("a")->algorithm.data[0], 1u);
  EXPECT_EQ(second.find("b")->algorithm.data[0], 3u);
  ProductChoices kept = file.read();
  EXPECT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept.find("a")->algorithm.data[0], 1u);
  EXPECT_EQ(kept.find("b")->algorithm.data[0], 3u);
  // Another machine's, or a damaged one, is as none.
  EXPECT_EQ(
      ChoicesFile(directory / "made/choices.json", ProductChoices("NVIDIA H100", "cuBLASLt 13.1.0")).read().size(), 0u);
  ASSERT_OK(writeFileAtomically(directory / "made/choices.json", "{"));
  EXPECT_EQ(file.read().size(), 0u);
}

// A choice that the library does not offer any more; of two processes that find that, the first replaces it.
TEST(ChoicesFile, WhatIsNotOfferedIsReplacedOnce) {
  TempDirectory directory;
  ProductChoices machine("NVIDIA H200", "cuBLASLt 13.1.0");
  ChoicesFile file(directory / "choices.json", machine);
  std::vector<std::string> products = {"a"};
  ProductChoices old = machine, first = machine, second = machine;
  old.set("a", {{{1}}, ProductChoice::Reason::Timed});
  first.set("a", {{{2}}, ProductChoice::Reason::Timed});
  second.set("a", {{{3}}, ProductChoice::Reason::Timed});
  ASSERT_OK(file.settle(old, products, machine));
  ASSERT_OK(file.settle(first, products, old));
  ASSERT_OK(file.settle(second, products, old));
  EXPECT_EQ(first.find("a")->algorithm.data[0], 2u);
  EXPECT_EQ(second.find("a")->algorithm.data[0], 2u);
}

TEST(ChoicesFile, WhatCannotBeKeptStaysAsItIs) {
  TempDirectory directory;
  ASSERT_OK(writeFileAtomically(directory / "file", ""));
  ProductChoices choices = someChoices();
  std::vector<std::string> products = {"8x4x2 f32 -> f32, a b"};
  for (const std::string &path : {std::string(), directory / "file/choices.json"})
    EXPECT_ERROR(ChoicesFile(path, ProductChoices("g", "l")).settle(choices, products, ProductChoices("g", "l")),
                 StatusCode::Io, "");
  EXPECT_EQ(choices.print(), someChoices().print());
}

TEST(ProductChoices, OfAnotherMachineAreRefused) {
  ProductChoices choices = someChoices();
  EXPECT_OK(choices.checkSameMachine(ProductChoices("NVIDIA H200", "cuBLASLt 13.1.0"), "p.json"));
  for (auto [gpu, library] :
       {std::pair("NVIDIA H100 80GB HBM3", "cuBLASLt 13.1.0"), {"NVIDIA H200", "cuBLASLt 13.2.0"}})
    EXPECT_ERROR(
        choices.checkSameMachine(ProductChoices(gpu, library), "p.json"), StatusCode::Unsupported,
        fmt::format("p.json: its algorithms are of 'NVIDIA H200' with 'cuBLASLt 13.1.0', but this machine has {} "
                    "with {}",
                    gpu, library));
}

TEST(ProductChoices, RefusesOtherFiles) {
  auto expectRefused = [](const std::string &text, const std::string &message) {
    EXPECT_ERROR(ProductChoices::parse(text, "p.json"), StatusCode::InvalidData, message);
  };
  expectRefused("{", "p.json");
  for (const char *text : {"[]", "{}", R"({"gpu": "g", "library": 3, "products": {}})",
                           R"({"gpu": "g", "library": "l"})", R"({"gpu": "g", "library": "l", "products": []})"})
    expectRefused(text, "p.json: expected an object with the texts gpu and library");
  std::string digits(128, 'a');
  auto product = [](const std::string &value) {
    return R"({"gpu": "g", "library": "l", "products": {"1x2x3": )" + value + "}}";
  };
  EXPECT_OK(ProductChoices::parse(product(R"({"algorithm": ")" + digits + R"(", "reason": "timed"})"), "p.json"));
  for (const std::string &value : {std::string("3"), R"({"algorithm": ")" + digits + R"("})",
                                   R"({"algorithm": ")" + digits + R"(", "reason": "luck"})",
                                   R"({"algorithm": ")" + digits.substr(1) + R"(", "reason": "timed"})",
                                   R"({"algorithm": ")" + digits.substr(1) + R"(g", "reason": "timed"})",
                                   R"({"algorithm": "-)" + digits.substr(1) + R"(", "reason": "timed"})",
                                   R"({"algorithm": ")" + digits + R"(", "reason": "timed", "more": 1})"})
    expectRefused(product(value), "p.json: product '1x2x3': expected an algorithm of 128 hexadecimal digits");
}

} // namespace
} // namespace qrt::cuda
