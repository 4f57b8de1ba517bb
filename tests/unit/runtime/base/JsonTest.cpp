// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/Json.h"

#include "tests/unit/runtime/support/StatusMatchers.h"
#include "tests/unit/runtime/support/TempDirectory.h"

#include <fstream>

using namespace qrt;

namespace {

std::string nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

} // namespace

TEST(Json, Parses) {
  auto json = parseJson(R"({"a": [1, -2, 3.5, true, null, "x\u00e9"], "b": {"c": {}}})", "f");
  ASSERT_OK(json);
  EXPECT_EQ(json->dump(), "{\"a\":[1,-2,3.5,true,null,\"x\xc3\xa9\"],\"b\":{\"c\":{}}}");
}

TEST(Json, RefusesWhatIsNotJson) {
  for (std::string text : {"", " ", "{", "}", "[1,]", "{\"a\"}", "{\"a\":1,}", "nul", "01", "1 2", "'a'", "\"\x01\"",
                           "NaN", "[1]x", "// c\n1", "\"\\ud800\"", "\"\xff\"", "\"\xc0\xaf\"", "1e999"})
    EXPECT_ERROR(parseJson(text, "some.json"), StatusCode::InvalidData, "some.json: not valid JSON near byte") << text;
  EXPECT_ERROR(parseJson(std::string("[1]\0", 4), "f"), StatusCode::InvalidData, "not valid JSON");
}

// The library itself keeps the last of two equal keys, quietly.
TEST(Json, RefusesAKeyTwice) {
  EXPECT_ERROR(parseJson(R"({"a":1,"b":2,"a":1})", "f"), StatusCode::InvalidData,
               "f: JSON object with the key 'a' twice");
  EXPECT_ERROR(parseJson(R"([{"x":{"k":{},"k":[]}}])", "f"), StatusCode::InvalidData, "the key 'k' twice");
  EXPECT_ERROR(parseJson(R"({"a":1,"\u0061":1})", "f"), StatusCode::InvalidData, "the key 'a' twice");
  EXPECT_OK(parseJson(R"({"a":{"a":{"a":1}},"b":{"a":1}})", "f"));
}

TEST(Json, Limits) {
  EXPECT_OK(parseJson(nested(64), "f"));
  EXPECT_ERROR(parseJson(nested(65), "f"), StatusCode::InvalidData, "f: JSON nested deeper than 64 levels");
  EXPECT_ERROR(parseJson(std::string(10'000'000, '['), "f"), StatusCode::InvalidData, "nested deeper");
  std::string objects;
  for (int i = 0; i < 100000; ++i)
    objects += "{\"a\":";
  EXPECT_ERROR(parseJson(objects, "f"), StatusCode::InvalidData, "nested deeper");
  EXPECT_OK(parseJson("[1,2]", "f", {.maxValues = 3}));
  EXPECT_ERROR(parseJson("[1,2,3]", "f", {.maxValues = 3}), StatusCode::InvalidData, "more than 3 values");
  EXPECT_ERROR(parseJson("[1,2]", "f", {.maxBytes = 4}), StatusCode::InvalidData, "at most 4 bytes of JSON, got 5");
}

TEST(Json, LongTokensDoNotFloodTheMessage) {
  auto json = parseJson("[\"" + std::string(100000, 'a') + "\x01", "f");
  EXPECT_ERROR(json, StatusCode::InvalidData, "not valid JSON");
  EXPECT_LT(json.status().message().size(), 300u);
}

TEST(Json, ReadsFiles) {
  test::TempDirectory directory;
  std::ofstream(directory / "a.json") << "{\"k\": 1}";
  std::ofstream(directory / "b.json") << "{\"k\": 1";
  EXPECT_OK(readJsonFile(directory / "a.json"));
  EXPECT_ERROR(readJsonFile(directory / "b.json"), StatusCode::InvalidData, "b.json: not valid JSON");
  EXPECT_ERROR(readJsonFile(directory / "c.json"), StatusCode::Io, "c.json: cannot open: No such file");
  EXPECT_ERROR(readJsonFile(directory / "a.json", {.maxBytes = 3}), StatusCode::InvalidData, "at most 3 bytes");
}

TEST(JsonObject, TypedMembers) {
  auto json = parseJson(R"({"i": 7, "n": -3, "f": 2.5, "s": "text", "b": true, "z": null, "big": 18446744073709551615,
                            "o": {"k": 1, "deep": {"x": "y"}}, "a": [1, 2, 3], "m": [1, "2"], "t": ["a", "b"]})",
                        "c.json");
  ASSERT_OK(json);
  auto object = JsonObject::root(*json, "c.json");
  ASSERT_OK(object);
  EXPECT_EQ(*object->integer("i"), 7);
  EXPECT_EQ(*object->integer("n"), -3);
  EXPECT_EQ(*object->number("f"), 2.5);
  EXPECT_EQ(*object->number("i"), 7.0);
  EXPECT_EQ(*object->string("s"), "text");
  EXPECT_EQ(*object->boolean("b"), true);
  EXPECT_EQ(*object->integers("a"), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(*object->strings("t"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ((*object->array("m"))->size(), 2u);
  EXPECT_EQ(*object->integerOr("missing", 5), 5);
  EXPECT_EQ(*object->integerOr("z", 5), 5);
  EXPECT_EQ(*object->stringOr("s", "other"), "text");
  EXPECT_EQ(*object->booleanOr("missing", true), true);
  EXPECT_EQ(*object->numberOr("missing", 0.5), 0.5);

  auto bad = StatusCode::InvalidData;
  EXPECT_ERROR(object->integer("s"), bad, "c.json: s: expected an integer, got a string");
  EXPECT_ERROR(object->integer("f"), bad, "c.json: f: expected an integer, got a fraction");
  EXPECT_ERROR(object->integer("b"), bad, "got a boolean");
  EXPECT_ERROR(object->integer("big"), bad, "got 18446744073709551615");
  EXPECT_ERROR(object->integer("i", 0, 6), bad, "c.json: i: expected 0 to 6, got 7");
  EXPECT_ERROR(object->integer("n", 0), bad, "got -3");
  EXPECT_ERROR(object->integer("missing"), bad, "c.json: missing: missing");
  EXPECT_ERROR(object->string("z"), bad, "expected a string, got null");
  EXPECT_ERROR(object->boolean("i"), bad, "expected a boolean, got an integer");
  EXPECT_ERROR(object->number("s"), bad, "expected a number, got a string");
  EXPECT_ERROR(object->array("o"), bad, "expected an array, got an object");
  EXPECT_ERROR(object->object("a"), bad, "a: expected an object, got an array");
  EXPECT_ERROR(object->integers("m"), bad, "c.json: m[1]: expected an integer, got a string");
  EXPECT_ERROR(object->strings("m"), bad, "c.json: m[0]: expected a string, got an integer");
  EXPECT_ERROR(object->integers("a", 1, 2), bad, "c.json: a[2]: expected 1 to 2, got 3");
  EXPECT_ERROR(object->integerOr("s", 1), bad, "expected an integer");

  auto inner = object->object("o");
  ASSERT_OK(inner);
  EXPECT_ERROR(inner->string("k"), bad, "c.json: o.k: expected a string, got an integer");
  auto deep = inner->object("deep");
  ASSERT_OK(deep);
  EXPECT_ERROR(deep->integer("x"), bad, "c.json: o.deep.x: expected an integer, got a string");
  EXPECT_ERROR(JsonObject::root((*json)["a"], "c.json"), bad, "c.json: expected an object, got an array");
}

TEST(Json, Utf8) {
  for (std::string good :
       {"", "abc", "\xc3\xa9", "\xe2\x82\xac", "\xed\x9f\xbf", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(isUtf8(good)) << good;
  for (std::string bad : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "a\xff"})
    EXPECT_FALSE(isUtf8(bad));
}
