// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON from outside: parsing within limits, and typed access whose errors name the file and the key.
#ifndef RUNTIME_BASE_JSON_H
#define RUNTIME_BASE_JSON_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace qrt {

/// Objects keep their keys sorted, so what is printed depends on the contents alone.
using Json = nlohmann::json;

/// What a document may cost. A value takes some 16 bytes of memory, a member of an object about 100.
struct JsonLimits {
  int64_t maxBytes = int64_t{100} << 20;
  int64_t maxValues = int64_t{8} << 20;
  int maxDepth = 64;
};

/// Parses a whole text. InvalidData, with `source` and the byte: syntax, encodings other than UTF-8, a number that has
/// no finite double, a key that an object has twice (readers disagree about which one counts), or more than the limits.
StatusOr<Json> parseJson(std::string_view text, const std::string &source, const JsonLimits &limits = {});

/// parseJson of a file.
StatusOr<Json> readJsonFile(const std::string &path, const JsonLimits &limits = {});

/// Whether a text can be written as a JSON string without a change.
bool isUtf8(std::string_view text);

/// A text from outside as it may stand in a message: quoted, control characters escaped, cut when it is long.
std::string quoteForMessage(std::string_view text);

/// An object of a parsed document and its place in it. The document must outlive it. A member that is missing, has
/// another type, or lies out of range is InvalidData: "FILE: a.b.key: expected an integer, got a string".
class JsonObject {
public:
  /// The object that `value`, the root of the document `source`, must be.
  static StatusOr<JsonObject> root(const Json &value, const std::string &source);

  /// The object that `value` must be; `place` says where it is, for messages.
  static StatusOr<JsonObject> at(const Json &value, const std::string &source, const std::string &place);

  /// Whether there is a member of this name, null or not.
  bool has(const std::string &key) const { return object_->find(key) != object_->end(); }
  /// All members, sorted by name.
  const Json::object_t &members() const { return *object_; }

  /// A member of any type.
  StatusOr<const Json *> member(const std::string &key) const;
  StatusOr<bool> boolean(const std::string &key) const;
  /// An integer from `min` to `max`; a fraction is another type, also 1.0.
  StatusOr<int64_t> integer(const std::string &key, int64_t min = std::numeric_limits<int64_t>::min(),
                            int64_t max = std::numeric_limits<int64_t>::max()) const;
  /// An integer or a fraction.
  StatusOr<double> number(const std::string &key) const;
  StatusOr<std::string> string(const std::string &key) const;
  /// An object, with its place below this one.
  StatusOr<JsonObject> object(const std::string &key) const;
  /// An array of anything; it lives in the document.
  StatusOr<const Json::array_t *> array(const std::string &key) const;
  /// An array of nothing but integers from `min` to `max`, or of nothing but strings.
  StatusOr<std::vector<int64_t>> integers(const std::string &key, int64_t min = std::numeric_limits<int64_t>::min(),
                                          int64_t max = std::numeric_limits<int64_t>::max()) const;
  StatusOr<std::vector<std::string>> strings(const std::string &key) const;

  /// The same with a value for a member that is missing or null.
  StatusOr<bool> booleanOr(const std::string &key, bool otherwise) const;
  StatusOr<int64_t> integerOr(const std::string &key, int64_t otherwise,
                              int64_t min = std::numeric_limits<int64_t>::min(),
                              int64_t max = std::numeric_limits<int64_t>::max()) const;
  StatusOr<double> numberOr(const std::string &key, double otherwise) const;
  StatusOr<std::string> stringOr(const std::string &key, const std::string &otherwise) const;

  /// An InvalidData error about a member.
  Status fail(const std::string &key, const std::string &what) const;

private:
  JsonObject(const Json::object_t *object, std::string source, std::string place)
      : object_(object), source_(std::move(source)), place_(std::move(place)) {}

  bool absent(const std::string &key) const;
  std::string placeOf(const std::string &key) const;
  Status wrongType(const std::string &key, std::string_view expected, const Json &value) const;
  StatusOr<int64_t> integerValue(const Json &value, const std::string &key, int64_t min, int64_t max) const;

  const Json::object_t *object_;
  std::string source_;
  std::string place_;
};

} // namespace qrt

#endif // RUNTIME_BASE_JSON_H
