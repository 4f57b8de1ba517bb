// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executor/TraceFile.h"

#include "runtime/base/Json.h"
#include "tests/unit/runtime/support/StatusMatchers.h"

#include <gtest/gtest.h>

namespace qrt {
namespace {

/// Two fills; the second is a recomputation.
Entry twoFills() {
  Entry entry;
  entry.slices = {{Space::Transient, 0, 0, denseShape(DType::F32, std::array<int64_t, 1>{4})}};
  entry.instructions = {{Fill{0}, "layers.0"}, {Fill{0}, "layers.\"1\"", true}};
  return entry;
}

/// A copy in, two works of the first instruction, one of the second on another stream, a copy out; by their ends.
ExecutionTrace fiveWorks() {
  return {{{"copy", 1000, 1500, 7},
           {"a<bf16>", 2000, 3000, 7},
           {"b", 3000, 5500, 7},
           {"copy", 9000, 9500, 7},
           {"c", 5000, 8000, 9}}};
}

TEST(ExecutionTrace, WorksBeginInTheOrderOfInstructions) {
  ExecutionTrace trace = fiveWorks();
  assignInstructions(trace, 1, std::array{2, 1}, 1);
  ASSERT_TRUE(trace.complete);
  std::vector<int32_t> instructions;
  for (const TracedWork &work : trace.works)
    instructions.push_back(work.instruction);
  EXPECT_EQ(instructions, (std::vector<int32_t>{-1, 0, 0, 1, -1}));
  EXPECT_EQ(trace.works[3].name, "c");
}

TEST(ExecutionTrace, WithAnotherNumberOfWorksNoneIsKnown) {
  ExecutionTrace trace = fiveWorks();
  assignInstructions(trace, 1, std::array{2, 2}, 1);
  EXPECT_FALSE(trace.complete);
  for (const TracedWork &work : trace.works)
    EXPECT_EQ(work.instruction, -1);
  EXPECT_EQ(traceSummary(trace),
            "5 works in 0.008 ms, in 0.007 of which the device worked; these are not as many as it "
            "was given, so none is known to be of an instruction");
}

TEST(ExecutionTrace, WorksOfAStreamBeginInTurn) {
  ExecutionTrace trace{
      {{"a", 1000, 3000, 7}, {"b", 1500, 3500, 7}, {"c", 1600, 2000, 9}, {"d", 1700, 3400, 7}, {"e", 4000, 4500, 7}}};
  beginInTurn(trace);
  std::vector<std::pair<int64_t, int64_t>> times;
  for (const TracedWork &work : trace.works)
    times.emplace_back(work.begin, work.end);
  EXPECT_EQ(times, (std::vector<std::pair<int64_t, int64_t>>{
                       {1000, 3000}, {3000, 3500}, {1600, 2000}, {3500, 3500}, {4000, 4500}}));
}

TEST(TraceFile, HasALineForInstructionsAndEachStream) {
  Entry entry = twoFills();
  ExecutionTrace trace = fiveWorks();
  assignInstructions(trace, 1, std::array{2, 1}, 1);
  StatusOr<Json> parsed = parseJson(traceJson(entry, trace, "NVIDIA \"H200\""), "trace.json");
  ASSERT_OK(parsed);
  const Json &events = (*parsed)["traceEvents"];
  auto named = [&](const std::string &name) {
    std::vector<Json> found;
    for (const Json &event : events)
      if (event["name"] == name)
        found.push_back(event);
    return found;
  };
  EXPECT_EQ(named("process_name").at(0)["args"]["name"], "NVIDIA \"H200\", " + entry.name());
  ASSERT_EQ(named("thread_name").size(), 3u);
  EXPECT_EQ(named("thread_name")[1]["args"]["name"], "stream 7");
  EXPECT_EQ(named("thread_name")[2]["args"]["name"], "stream 9");

  // Microseconds from the first beginning.
  Json work = named("a<bf16>").at(0);
  EXPECT_EQ(work["ph"], "X");
  EXPECT_EQ(work["ts"], 1.0);
  EXPECT_EQ(work["dur"], 1.0);
  EXPECT_EQ(work["tid"], 1);
  EXPECT_EQ(work["args"]["instruction"], 0);
  EXPECT_EQ(work["args"]["scope"], "layers.0");
  EXPECT_EQ(named("c").at(0)["args"]["class"], "fill, recomputed");
  EXPECT_EQ(named("c").at(0)["tid"], 2);
  EXPECT_TRUE(named("copy").at(0)["args"].empty());

  // The first instruction, from the beginning of its first work to the end of its last.
  ASSERT_EQ(named("fill").size(), 1u);
  EXPECT_EQ(named("fill")[0]["tid"], 0);
  EXPECT_EQ(named("fill")[0]["ts"], 1.0);
  EXPECT_EQ(named("fill")[0]["dur"], 3.5);
  EXPECT_EQ(named("fill, recomputed").at(0)["args"]["scope"], "layers.\"1\"");
}

TEST(TraceFile, OfNothingIsAFileToo) {
  EXPECT_OK(parseJson(traceJson(twoFills(), {}, "cpu"), "trace.json"));
  EXPECT_EQ(traceSummary({}), "0 works in 0.000 ms, in 0.000 of which the device worked");
}

TEST(TraceFile, OverlappingWorksCountOnce) {
  ExecutionTrace trace{
      {{"a", 0, 4000000, 0}, {"b", 1000000, 2000000, 1}, {"c", 3000000, 5000000, 1}, {"d", 8000000, 9000000, 0}}};
  EXPECT_EQ(traceSummary(trace), "4 works in 9.000 ms, in 6.000 of which the device worked");
}

} // namespace
} // namespace qrt
