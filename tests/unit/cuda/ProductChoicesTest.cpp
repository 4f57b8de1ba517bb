// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/ProductChoices.h"

#include "tests/unit/runtime/support/StatusMatchers.h"

namespace qrt::cuda {
namespace {

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
