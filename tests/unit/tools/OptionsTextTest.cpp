// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qrun/OptionsText.h"

#include "tests/unit/runtime/support/StatusMatchers.h"

#include <gtest/gtest.h>

namespace qrt {
namespace {

using Kind = OptionValue::Kind;

TEST(OptionsTextTest, Reads) {
  StatusOr<std::vector<OptionEntry>> entries = parseOptionsText("# a comment\n"
                                                                "\n"
                                                                "steps = 1_000 # what follows is no value\r\n"
                                                                "  lr=-1e-4\n"
                                                                "\"out\" = \"a # \\\"b\\\" \\\\c\"\n"
                                                                "data = 'a\\b'\n"
                                                                "scratch = true\n"
                                                                "source = [\"x\", # first\n"
                                                                "          2,\n"
                                                                "]",
                                                                "x.toml");
  ASSERT_OK(entries);
  EXPECT_EQ(*entries, (std::vector<OptionEntry>{{3, "steps", {{Kind::Number, "1000"}}},
                                                {4, "lr", {{Kind::Number, "-1e-4"}}},
                                                {5, "out", {{Kind::Text, "a # \"b\" \\c"}}},
                                                {6, "data", {{Kind::Text, "a\\b"}}},
                                                {7, "scratch", {{Kind::Boolean, "true"}}},
                                                {8, "source", {{Kind::Text, "x"}, {Kind::Number, "2"}}}}));
}

TEST(OptionsTextTest, ReadsWhatItPrints) {
  std::vector<OptionValue> values = {{Kind::Text, "\"quoted\" \\ # 'x', [1]\nnext"}, {Kind::Number, "1e-08"}};
  StatusOr<std::vector<OptionEntry>> entries =
      parseOptionsText(printOption("one", {values[0]}) + printOption("both", values), "x.toml");
  ASSERT_OK(entries);
  EXPECT_EQ(*entries, (std::vector<OptionEntry>{{1, "one", {values[0]}}, {2, "both", values}}));
}

TEST(OptionsTextTest, NamesLineAndKey) {
  for (auto [text, message] :
       {std::pair{"\n[train]\n", "x.toml:2: a file holds the options of one command"},
        {"= 1", "x.toml:1: expected `option = value`, got '= 1'"},
        {"steps", "x.toml:1: expected `option = value`, got no = after steps"},
        {"a.b = 1", "x.toml:1: expected `option = value`, got no = after a"},
        {"steps =\nlr = 1", "x.toml:1: steps: expected \"text\" in quotes, a number, true, "
                            "false or a list of them, got nothing"},
        {"out = run", "got 'run'"},
        {"out = \"run\nlr = 1", "x.toml:1: out: the text does not end on its line"},
        {"out = \"a\\x\"", "x.toml:1: out: expected a character of"},
        {"out = \"run", "x.toml:1: out: the text does not end on its line"},
        {"out = \"run\\", "x.toml:1: out: expected a character of"},
        {"a = 1\na = 2", "x.toml:2: a: is there twice"},
        {"a = 1 b = 2", "x.toml:1: a: expected the end of the line after the value, got 'b = 2'"},
        {"a = []", "x.toml:1: a: expected a value, got an empty list"},
        {"a = [1, 2", "x.toml:1: a: expected , or ] in the list"},
        {"a = [1,\n", "a: expected \"text\" in quotes"}})
    EXPECT_ERROR(parseOptionsText(text, "x.toml"), StatusCode::InvalidUsage, message);
}

} // namespace
} // namespace qrt
