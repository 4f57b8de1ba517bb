// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/cli/CommandLine.h"

#include "tools/cli/Numbers.h"

#include <gtest/gtest.h>
#include <regex>
#include <sstream>

namespace qrt {
namespace {

/// What the program `sail` says about a command line; empty if nothing is wrong. A program of a configuration file, as
/// qrun is, lets options of the program follow those of a command.
std::string usageOf(std::vector<std::string> words, bool fallthrough = false) {
  CLI::App app("", "sail");
  app.require_subcommand(1);
  app.fallthrough(fallthrough);
  std::string text, file;
  int64_t number = 0;
  bool flag = false;
  CLI::App *set = app.add_subcommand("set", "");
  set->add_option("course", text)->required()->type_name("COURSE");
  set->add_option("--sheet", text)->required()->type_name("LENGTH");
  set->add_option("-r,--reefs", number);
  set->add_flag("--spinnaker", flag);
  set->add_option("--tack", text)->check(CLI::IsMember({"port", "starboard"}));
  app.add_subcommand("strike", "")->add_option("sails", text);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
    return "";
  } catch (const CLI::ParseError &error) {
    return describeUsage(app, error);
  }
}

TEST(CommandLine, AcceptsWhatIsThere) { EXPECT_EQ(usageOf({"set", "north", "--sheet", "3", "-r", "-2"}), ""); }

TEST(CommandLine, NamesTheCommands) {
  EXPECT_EQ(usageOf({}), "expected a command: set or strike");
  EXPECT_EQ(usageOf({"hoist"}), "there is no command 'hoist': the commands are set and strike");
  EXPECT_EQ(usageOf({"stike", "jib"}),
            "there is no command 'stike': the commands are set and strike; did you mean strike?");
  EXPECT_EQ(usageOf({"--sheet", "3"}), "expected a command before --sheet: the commands are set and strike");
}

TEST(CommandLine, NamesTheUnknownOption) {
  for (bool fallthrough : {false, true}) {
    // An unknown option's value may be taken for an argument, and the argument is left over then.
    EXPECT_EQ(usageOf({"set", "--shet", "3", "north"}, fallthrough),
              "sail set has no option --shet; did you mean --sheet? (`sail set --help` lists them)");
    EXPECT_EQ(usageOf({"set", "north", "--spin=1", "--sheet", "3"}, fallthrough),
              "sail set has no option --spin; did you mean --spinnaker? (`sail set --help` lists them)");
    EXPECT_EQ(usageOf({"set", "north", "--sheet", "3", "--anchor"}, fallthrough),
              "sail set has no option --anchor (`sail set --help` lists them)");
  }
  EXPECT_EQ(usageOf({"--reefs", "set", "north", "--sheet", "3"}),
            "--reefs is an option of sail set: it comes after the command");
}

TEST(CommandLine, NamesAllThatIsMissing) {
  EXPECT_EQ(usageOf({"set"}), "sail set: expected COURSE and --sheet LENGTH");
  EXPECT_EQ(usageOf({"set", "north"}), "sail set: expected --sheet LENGTH");
  EXPECT_EQ(usageOf({"set", "north", "--sheet"}), "--sheet: expected a value");
}

TEST(CommandLine, NamesWhatIsTooMuch) {
  EXPECT_EQ(usageOf({"set", "north", "south", "--sheet", "3"}), "sail set takes no argument 'south'");
  EXPECT_EQ(usageOf({"set", "north", "--sheet", "3", "--sheet", "4"}), "--sheet: expected once, got 2 times");
}

TEST(CommandLine, SaysWhatAValueMayBe) {
  EXPECT_EQ(usageOf({"set", "north", "--sheet", "3", "--tack", "left"}),
            "--tack: expected port or starboard, got 'left'");
  EXPECT_EQ(usageOf({"set", "north", "--sheet", "3", "--reefs", "two"}), "--reefs: expected a number, got 'two'");
}

template <typename T> std::string numberOf(std::vector<std::string> words, T &number) {
  CLI::App app("", "sail");
  addNumber(*app.add_subcommand("set", ""), "--reefs", number, "");
  words.insert(words.begin(), "set");
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
    return "";
  } catch (const CLI::ParseError &error) {
    return describeUsage(app, error);
  }
}

TEST(CommandLine, ReadsNumbersStrictly) {
  uint64_t natural = 1;
  EXPECT_EQ(numberOf({"--reefs", "18446744073709551615"}, natural), "");
  EXPECT_EQ(natural, ~uint64_t{0});
  EXPECT_EQ(numberOf({"--reefs", "-1"}, natural), "--reefs: expected a whole number of at least 0, got '-1'");
  EXPECT_EQ(numberOf({"--reefs", "18446744073709551616"}, natural),
            "--reefs: expected a whole number from 0 to 18446744073709551615, got '18446744073709551616'");
  std::optional<int64_t> whole;
  EXPECT_EQ(numberOf({"--reefs", "010"}, whole), "");
  EXPECT_EQ(whole, 10);
  for (const char *text : {"0x10", "1e3", "1.5", " 1", "two", ""})
    EXPECT_EQ(numberOf({"--reefs", text}, whole), fmt::format("--reefs: expected a whole number, got '{}'", text));
  double real = 1;
  EXPECT_EQ(numberOf({"--reefs", "-1e-3"}, real), "");
  EXPECT_EQ(real, -1e-3);
  EXPECT_EQ(numberOf({"--reefs", "fast"}, real), "--reefs: expected a number, got 'fast'");
  EXPECT_EQ(numberOf({"--reefs", "1e400"}, real), "--reefs: expected a number that 64 bits can hold, got '1e400'");
}

TEST(CommandLine, ExitCodes) {
  CLI::App app("", "sail");
  app.require_subcommand(1);
  app.add_subcommand("set", "");
  app.add_subcommand("strike", "");
  const char *unknown[] = {"/bin/sail", "hoist"}, *known[] = {"/bin/sail", "set"}, *help[] = {"/bin/sail", "--help"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(parseCommandLine(app, 2, unknown), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "sail: error: there is no command 'hoist': the commands are set and strike\n");
  EXPECT_EQ(parseCommandLine(app, 2, known), std::nullopt);
  testing::internal::CaptureStdout();
  EXPECT_EQ(parseCommandLine(app, 2, help), 0);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("sail"), std::string::npos);
  addVersion(app, "with oars");
  const char *version[] = {"/bin/sail", "--version"};
  testing::internal::CaptureStdout();
  EXPECT_EQ(parseCommandLine(app, 2, version), 0);
  std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(std::regex_match(printed, std::regex("sail \\d+\\.\\d+\\.\\d+, with oars\n"))) << printed;

  EXPECT_EQ(finish(app, Status()), 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(finish(app, Status(StatusCode::Io, "no wind")), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "sail: error: no wind\n");
}

} // namespace
} // namespace qrt
