// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/Memory.h"

#include "runtime/base/Digits.h"
#include "tests/unit/runtime/support/StatusMatchers.h"
#include "tests/unit/runtime/support/TinyProgram.h"

namespace qrt {
namespace {

using test::TinyProgram;

int64_t of(const SpaceBytes &spaces, Space space) { return spaces[static_cast<int>(space)]; }

TEST(Memory, StateByWhatItHolds) {
  StatusOr<Program> program = TinyProgram({.vocabulary = 1234, .dtype = DType::BF16}).build();
  ASSERT_OK(program);
  StateMemory state = stateMemory(*program);
  // 20,032 elements of two bytes and 16 of four; masters only of the former.
  EXPECT_EQ(state.weights, 40128);
  EXPECT_EQ(state.masters, 80128);
  EXPECT_EQ(state.moments, 160384);
  EXPECT_EQ(state.counters, 16);
  EXPECT_EQ(state.weights + state.masters + state.moments + state.counters + state.alignment, program->stateBytes());
}

TEST(Memory, ARunReservesForTheEntriesThatItNeeds) {
  // The largest entries of each kind of run, in a program whose others are larger still.
  TinyProgram tiny;
  tiny.entry(EntryKind::Step).transient_bytes = 1 << 20;
  tiny.entry(EntryKind::Eval).io_bytes = 1 << 16;
  tiny.entry(EntryKind::Accumulate).transient_bytes = 1 << 21;
  tiny.entry(EntryKind::Apply).io_bytes = 1 << 17;
  StatusOr<Program> program = tiny.build();
  ASSERT_OK(program);
  SpaceBytes stepping = program->spaceBytes(false), accumulating = program->spaceBytes(true);
  EXPECT_EQ(of(stepping, Space::State), program->stateBytes());
  EXPECT_EQ(of(stepping, Space::Gradients), 0);
  EXPECT_EQ(of(stepping, Space::Transient), 1 << 20);
  EXPECT_EQ(of(stepping, Space::Io), 1 << 16);
  EXPECT_EQ(of(accumulating, Space::Gradients), program->gradientBytes());
  EXPECT_EQ(of(accumulating, Space::Transient), 1 << 21);
  EXPECT_EQ(of(accumulating, Space::Io), 1 << 17);
  EXPECT_EQ(totalBytes(stepping), program->stateBytes() + (1 << 20) + (1 << 16));

  // A step of one row is taken as such in a run that accumulates too.
  tiny.entry(EntryKind::Step).transient_bytes = 1 << 22;
  program = tiny.build();
  ASSERT_OK(program);
  EXPECT_EQ(of(program->spaceBytes(true), Space::Transient), 1 << 22);
}

TEST(Memory, ReportsWhatARunReserves) {
  StatusOr<Program> program = TinyProgram().build();
  ASSERT_OK(program);
  int64_t stepping = totalBytes(program->spaceBytes(false)), accumulating = totalBytes(program->spaceBytes(true));
  ASSERT_LT(stepping, accumulating);
  std::string report = memoryReport(*program);
  std::string one = memoryLine("a run of one micro-batch a step", stepping);
  std::string many = memoryLine("a run that accumulates micro-batches", accumulating);
  EXPECT_NE(report.find(one + "\n"), std::string::npos) << report;
  EXPECT_NE(report.find(many + "\n"), std::string::npos) << report;

  report = memoryReport(*program, stepping);
  EXPECT_NE(report.find(one + "  fits\n"), std::string::npos) << report;
  EXPECT_NE(report.find(many + "  short by " + printBytes(accumulating - stepping) + "\n"), std::string::npos)
      << report;
  report = memoryReport(*program, stepping - 1);
  EXPECT_NE(report.find(one + "  short by 1 byte (0.000 GiB)\n"), std::string::npos) << report;
}

// What a GPU takes beside the spaces is in the plan, with a line for each part of it.
TEST(Memory, ReportsTheOverheadOfAGpu) {
  TinyProgram tiny;
  tiny.builder.program.target = "sm_90a";
  StatusOr<Program> program = tiny.build();
  ASSERT_OK(program);
  std::string report = memoryReport(*program);
  for (bool accumulate : {false, true})
    EXPECT_NE(
        report.find(memoryLine(accumulate ? "a run that accumulates micro-batches" : "a run of one micro-batch a step",
                               totalBytes(program->spaceBytes(accumulate)) + kGemmWorkspaceBytes + kContextBytes) +
                    "\n"),
        std::string::npos)
        << report;
  EXPECT_NE(report.find(memoryLine("  workspace of matrix products", kGemmWorkspaceBytes) + "\n"), std::string::npos)
      << report;
  EXPECT_NE(report.find(memoryLine("  machine code of the kernels", 0) + "\n"), std::string::npos) << report;
  EXPECT_EQ(deviceOverhead("cpu", 7).total(), 0);
}

// Only what would help: no masters, none to do without; no room for the state and a step's gradients, no bucket.
TEST(Memory, AdvisesWhatMakesItLess) {
  StatusOr<Program> narrow = TinyProgram({.dtype = DType::BF16}).build(), wide = TinyProgram().build();
  ASSERT_OK(narrow);
  ASSERT_OK(wide);
  // 656 elements and two norms of 8: of two bytes and of four.
  int64_t least = narrow->stateBytes() + 2 * 656 + 4 * 16, io = of(narrow->spaceBytes(false), Space::Io);
  EXPECT_EQ(leastMemory(*narrow, false).total(), least);
  EXPECT_EQ(lessMemory(*narrow, false, least + io + 1),
            fmt::format("`qcc build` makes it less with --states bf16, or a smaller bucket, "
                        "or --memory {} and no other --remat",
                        least + io + 1));
  EXPECT_EQ(lessMemory(*narrow, false, least + io),
            "`qcc build` makes it less with --states bf16, or a smaller bucket");
  EXPECT_EQ(lessMemory(*narrow, false, least),
            "no bucket is small enough; `qcc build` makes it less with --states bf16");
  least = wide->stateBytes() + 4 * (656 + 16);
  EXPECT_EQ(lessMemory(*wide, false, least + 1), "`qcc build` makes it less with a smaller bucket");
  EXPECT_EQ(lessMemory(*wide, false, least), "no bucket is small enough");
}

// A run that accumulates has the sums besides.
TEST(Memory, AdvisesARunOfOneMicroBatch) {
  StatusOr<Program> program = TinyProgram().build();
  ASSERT_OK(program);
  int64_t least = leastMemory(*program, false).total() + program->gradientBytes();
  std::string one =
      fmt::format("; a run of one micro-batch a step (--micro-batches 1) takes {} less",
                  printBytes(totalBytes(program->spaceBytes(true)) - totalBytes(program->spaceBytes(false))));
  EXPECT_EQ(lessMemory(*program, true, least + 1), "`qcc build` makes it less with a smaller bucket" + one);
  EXPECT_EQ(lessMemory(*program, true, least), "no bucket is small enough" + one);
}

// A program that was built for as little is not to be built for it again.
TEST(Memory, AdvisesNoBudgetThatWasKept) {
  TinyProgram tiny;
  int64_t enough = int64_t{1} << 40;
  for (auto [options, advised] : {std::pair<std::vector<std::string>, bool>{{"remat=none"}, true},
                                  {{fmt::format("memory={}", enough), "remat=budget"}, false},
                                  {{fmt::format("memory={}", enough - 1), "remat=budget"}, false},
                                  {{fmt::format("memory={}", enough + 1), "remat=budget"}, true},
                                  {{"memory=1", "remat=memory-bound"}, true}}) {
    tiny.builder.program.options = options;
    StatusOr<Program> program = tiny.build();
    ASSERT_OK(program);
    EXPECT_EQ(lessMemory(*program, false, enough).find("--memory") != std::string::npos, advised) << options[0];
  }
}

TEST(Memory, ProgramsThatCannotAccumulateSayNothingOfIt) {
  StatusOr<Program> program = TinyProgram({.accumulate = false}).build();
  ASSERT_OK(program);
  EXPECT_EQ(memoryReport(*program).find("accumulates"), std::string::npos);
}

} // namespace
} // namespace qrt
