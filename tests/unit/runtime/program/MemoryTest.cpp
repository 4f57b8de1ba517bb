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

// Only what would help: no masters, none to do without; no room for the state, no bucket.
TEST(Memory, AdvisesWhatMakesItLess) {
  StatusOr<Program> narrow = TinyProgram({.dtype = DType::BF16}).build(), wide = TinyProgram().build();
  ASSERT_OK(narrow);
  ASSERT_OK(wide);
  int64_t some = narrow->stateBytes() + 1;
  EXPECT_EQ(lessMemory(*narrow, some),
            fmt::format("; `qcc build` makes it less with --states bf16, or a smaller bucket, "
                        "or --memory {} and no other --remat",
                        some));
  EXPECT_EQ(lessMemory(*narrow, narrow->stateBytes()), "; `qcc build` makes it less with --states bf16");
  some = wide->stateBytes() + 1;
  EXPECT_EQ(
      lessMemory(*wide, some),
      fmt::format("; `qcc build` makes it less with a smaller bucket, or --memory {} and no other --remat", some));
  EXPECT_EQ(lessMemory(*wide, wide->stateBytes()), "");
}

TEST(Memory, ProgramsThatCannotAccumulateSayNothingOfIt) {
  StatusOr<Program> program = TinyProgram({.accumulate = false}).build();
  ASSERT_OK(program);
  EXPECT_EQ(memoryReport(*program).find("accumulates"), std::string::npos);
}

} // namespace
} // namespace qrt
