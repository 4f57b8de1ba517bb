// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/Report.h"

#include "runtime/program/Memory.h"
#include "tests/unit/runtime/support/StatusMatchers.h"
#include "tests/unit/runtime/support/TinyProgram.h"

namespace qrt {
namespace {

/// The lines that contain `part`.
std::vector<std::string> linesWith(const std::string &text, const std::string &part) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    std::string line = text.substr(begin, end - begin);
    if (line.find(part) != std::string::npos)
      lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

TEST(Report, SaysWhatAProgramHolds) {
  StatusOr<Program> program = test::TinyProgram({.vocabulary = 1234, .dtype = DType::BF16}).build();
  ASSERT_OK(program);
  std::string report = programReport(*program, false);
  ASSERT_EQ(report.back(), '\n');
  std::string head = fmt::format("tiny.qprog: program of version {}.{} for 'cpu', built by 'program-builder'",
                                 kProgramVersion.major, kProgramVersion.minor);
  EXPECT_EQ(linesWith(report, head).size(), 1u) << report;
  // Twice 1234 x 8, three times 12 x 8, twice 8.
  EXPECT_EQ(linesWith(report, "7 parameters with 20,048 elements, 20,048 of them trained").size(), 1u) << report;
  std::vector<std::string> up = linesWith(report, "up_proj");
  ASSERT_EQ(up.size(), 1u);
  EXPECT_NE(up[0].find("12x8                bf16    f32       f32     f32      yes    layers.0.mlp.gate_up"),
            std::string::npos)
      << up[0];
  // The same table as that of a build.
  EXPECT_NE(report.find("\n" + memoryReport(*program) + "\n"), std::string::npos) << report;
  EXPECT_EQ(linesWith(report, "entry step 16x4x16x12: 28 instructions").size(), 1u);
  EXPECT_EQ(linesWith(report, "entry apply: 15 instructions").size(), 1u);
  // 2 (16 x 8 x 24) + 2 (16 x 12 x 8), and the same for the two gradients of each.
  std::vector<std::string> gemms = linesWith(report, "  gemm ");
  ASSERT_EQ(gemms.size(), 3u);
  EXPECT_NE(gemms[0].find("     6    2.76e+04"), std::string::npos) << gemms[0];
  EXPECT_TRUE(linesWith(report, "reads").empty());
}

TEST(Report, ListsInstructionsWhenAsked) {
  test::TinyProgram tiny;
  tiny.builder.program.entries[0]->instructions[3]->recomputed = true;
  StatusOr<Program> program = tiny.build();
  ASSERT_OK(program);
  std::string report = programReport(*program, true);
  EXPECT_EQ(linesWith(report, "swiglu_grad                 'layers.0.mlp'").size(), 2u) << report;
  EXPECT_EQ(linesWith(report, "writes  dgate          transient + ")
                .at(0)
                .substr(linesWith(report, "writes  dgate").at(0).find("f32")),
            "f32[16, 12] strides [24, 1]");
  ASSERT_EQ(linesWith(report, "  (recomputed)").size(), 1u) << report;
  EXPECT_EQ(linesWith(report, "  (recomputed)")[0].substr(0, 8), "      3 ");
  EXPECT_FALSE(linesWith(report, "reads   b transposed   state + ").empty());
  EXPECT_FALSE(linesWith(report, "with    eps = 1e-06").empty());
  EXPECT_FALSE(linesWith(report, "updates weight         state + ").empty());
}

} // namespace
} // namespace qrt
