// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/Json.h"

#include "runtime/base/File.h"

#include <algorithm>

namespace qrt {

namespace {

constexpr size_t kMessageBytes = 120;

/// Builds the document from the parser's events, so that limits and repeated keys are seen while it is read.
class Builder : public nlohmann::json_sax<Json> {
public:
  Builder(const std::string &source, const JsonLimits &limits) : source_(source), limits_(limits) {}

  Json root;
  Status status;

  bool null() override { return insert(Json(nullptr)) != nullptr; }
  bool boolean(bool value) override { return insert(Json(value)) != nullptr; }
  bool number_integer(number_integer_t value) override { return insert(Json(value)) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return insert(Json(value)) != nullptr; }
  bool number_float(number_float_t value, const string_t &) override { return insert(Json(value)) != nullptr; }
  bool string(string_t &value) override { return insert(Json(std::move(value))) != nullptr; }
  bool binary(binary_t &) override { return fail("binary values are not JSON"); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t &value) override {
    key_ = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string &, const Json::exception &problem) override {
    // The library's text: "[json.exception.parse_error.101] parse error at line 1, column 2: ...".
    std::string_view text = problem.what();
    if (size_t bracket = text.find("] "); bracket != std::string_view::npos)
      text.remove_prefix(bracket + 2);
    return fail(fmt::format("not valid JSON near byte {}: {}", position, quoteForMessage(text)));
  }

private:
  bool fail(const std::string &what) {
    if (status.ok())
      status = error(StatusCode::InvalidData, "{}: {}", source_, what);
    return false;
  }

  bool open(Json value) {
    if (open_.size() >= static_cast<size_t>(limits_.maxDepth))
      return fail(fmt::format("JSON nested deeper than {} levels", limits_.maxDepth));
    Json *slot = insert(std::move(value));
    if (slot)
      open_.push_back(slot);
    return slot != nullptr;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  /// Adds a value where the reader is. Pointers into the document stay valid: only the innermost container grows.
  Json *insert(Json value) {
    if (++values_ > limits_.maxValues) {
      fail(fmt::format("JSON with more than {} values", limits_.maxValues));
      return nullptr;
    }
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    if (auto *array = open_.back()->get_ptr<Json::array_t *>()) {
      array->push_back(std::move(value));
      return &array->back();
    }
    auto [member, isNew] = open_.back()->get_ptr<Json::object_t *>()->emplace(std::move(key_), std::move(value));
    if (!isNew) {
      fail(fmt::format("JSON object with the key {} twice", quoteForMessage(member->first)));
      return nullptr;
    }
    return &member->second;
  }

  const std::string &source_;
  const JsonLimits &limits_;
  std::vector<Json *> open_;
  std::string key_;
  int64_t values_ = 0;
};

std::string_view typeName(const Json &value) {
  switch (value.type()) {
  case Json::value_t::null:
    return "null";
  case Json::value_t::object:
    return "an object";
  case Json::value_t::array:
    return "an array";
  case Json::value_t::string:
    return "a string";
  case Json::value_t::boolean:
    return "a boolean";
  case Json::value_t::number_integer:
  case Json::value_t::number_unsigned:
    return "an integer";
  case Json::value_t::number_float:
    return "a fraction";
  default:
    return "something else";
  }
}

} // namespace

StatusOr<Json> parseJson(std::string_view text, const std::string &source, const JsonLimits &limits) {
  if (static_cast<int64_t>(text.size()) > limits.maxBytes)
    return error(StatusCode::InvalidData, "{}: expected at most {} bytes of JSON, got {}", source, limits.maxBytes,
                 text.size());
  // The library takes a zero byte for the end of the text.
  if (size_t zero = text.find('\0'); zero != std::string_view::npos)
    return error(StatusCode::InvalidData, "{}: not valid JSON near byte {}: a zero byte", source, zero);
  Builder builder(source, limits);
  bool parsed = Json::sax_parse(text.begin(), text.end(), &builder);
  QRT_RETURN_IF_ERROR(std::move(builder.status));
  if (!parsed)
    return error(StatusCode::InvalidData, "{}: not valid JSON", source);
  return std::move(builder.root);
}

StatusOr<Json> readJsonFile(const std::string &path, const JsonLimits &limits) {
  QRT_ASSIGN_OR_RETURN(std::string text, readFile(path, limits.maxBytes));
  return parseJson(text, path, limits);
}

bool isUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    auto byte = [&](size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
    unsigned first = byte(i);
    size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (length == 0)
      return false;
    for (size_t k = 1; k < length; ++k)
      if ((byte(i + k) & 0xC0) != 0x80)
        return false;
    // Longer forms than needed, surrogates, and what lies beyond the last code point.
    unsigned second = byte(i + 1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) || (first == 0xF0 && second < 0x90) ||
        (first == 0xF4 && second >= 0x90))
      return false;
    i += length;
  }
  return true;
}

std::string quoteForMessage(std::string_view text) {
  std::string quoted = "'";
  for (char c : text.substr(0, kMessageBytes)) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      quoted += fmt::format("\\x{:02x}", byte);
    else
      quoted += c;
  }
  quoted += text.size() > kMessageBytes ? "...'" : "'";
  return quoted;
}

StatusOr<JsonObject> JsonObject::root(const Json &value, const std::string &source) { return at(value, source, ""); }

StatusOr<JsonObject> JsonObject::at(const Json &value, const std::string &source, const std::string &place) {
  const auto *object = value.get_ptr<const Json::object_t *>();
  if (!object)
    return error(StatusCode::InvalidData, "{}: {}{}expected an object, got {}", source, place,
                 place.empty() ? "" : ": ", typeName(value));
  return JsonObject(object, source, place);
}

std::string JsonObject::placeOf(const std::string &key) const {
  // The key may be the file's.
  std::string name = quoteForMessage(key);
  if (name == fmt::format("'{}'", key))
    name = key;
  return place_.empty() ? name : fmt::format("{}.{}", place_, name);
}

Status JsonObject::fail(const std::string &key, const std::string &what) const {
  return error(StatusCode::InvalidData, "{}: {}: {}", source_, placeOf(key), what);
}

Status JsonObject::wrongType(const std::string &key, std::string_view expected, const Json &value) const {
  return fail(key, fmt::format("expected {}, got {}", expected, typeName(value)));
}

StatusOr<const Json *> JsonObject::member(const std::string &key) const {
  auto found = object_->find(key);
  if (found == object_->end())
    return fail(key, "missing");
  return &found->second;
}

bool JsonObject::absent(const std::string &key) const {
  auto found = object_->find(key);
  return found == object_->end() || found->second.is_null();
}

StatusOr<int64_t> JsonObject::integerValue(const Json &value, const std::string &key, int64_t min, int64_t max) const {
  int64_t result;
  if (const auto *positive = value.get_ptr<const Json::number_unsigned_t *>()) {
    if (*positive > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return fail(key, fmt::format("expected {} to {}, got {}", min, max, *positive));
    result = static_cast<int64_t>(*positive);
  } else if (const auto *any = value.get_ptr<const Json::number_integer_t *>()) {
    result = *any;
  } else {
    return wrongType(key, "an integer", value);
  }
  if (result < min || result > max)
    return fail(key, fmt::format("expected {} to {}, got {}", min, max, result));
  return result;
}

StatusOr<bool> JsonObject::boolean(const std::string &key) const {
  QRT_ASSIGN_OR_RETURN(const Json *value, member(key));
  if (const auto *found = value->get_ptr<const Json::boolean_t *>())
    return *found;
  return wrongType(key, "a boolean", *value);
}

StatusOr<int64_t> JsonObject::integer(const std::string &key, int64_t min, int64_t max) const {
  QRT_ASSIGN_OR_RETURN(const Json *value, member(key));
  return integerValue(*value, key, min, max);
}

StatusOr<double> JsonObject::number(const std::string &key) const {
  QRT_ASSIGN_OR_RETURN(const Json *value, member(key));
  if (!value->is_number())
    return wrongType(key, "a number", *value);
  return value->get<double>();
}

StatusOr<std::string> JsonObject::string(const std::string &key) const {
  QRT_ASSIGN_OR_RETURN(const Json *value, member(key));
  if (const auto *found = value->get_ptr<const Json::string_t *>())
    return *found;
  return wrongType(key, "a string", *value);
}

StatusOr<JsonObject> JsonObject::object(const std::string &key) const {
  QRT_ASSIGN_OR_RETURN(const Json *value, member(key));
  return at(*value, source_, placeOf(key));
}

StatusOr<const Json::array_t *> JsonObject::array(const std::string &key) const {
  QRT_ASSIGN_OR_RETURN(const Json *value, member(key));
  if (const auto *found = value->get_ptr<const Json::array_t *>())
    return found;
  return wrongType(key, "an array", *value);
}

StatusOr<std::vector<int64_t>> JsonObject::integers(const std::string &key, int64_t min, int64_t max) const {
  QRT_ASSIGN_OR_RETURN(const Json::array_t *values, array(key));
  std::vector<int64_t> result;
  result.reserve(values->size());
  for (const Json &value : *values) {
    StatusOr<int64_t> number = integerValue(value, key, min, max);
    if (!number.ok())
      // The place is only spelled out for the one that is wrong.
      return integerValue(value, fmt::format("{}[{}]", key, result.size()), min, max).status();
    result.push_back(*number);
  }
  return result;
}

StatusOr<std::vector<std::string>> JsonObject::strings(const std::string &key) const {
  QRT_ASSIGN_OR_RETURN(const Json::array_t *values, array(key));
  std::vector<std::string> result;
  result.reserve(values->size());
  for (const Json &value : *values) {
    const auto *text = value.get_ptr<const Json::string_t *>();
    if (!text)
      return wrongType(fmt::format("{}[{}]", key, result.size()), "a string", value);
    result.push_back(*text);
  }
  return result;
}

StatusOr<bool> JsonObject::booleanOr(const std::string &key, bool otherwise) const {
  return absent(key) ? StatusOr<bool>(otherwise) : boolean(key);
}

StatusOr<int64_t> JsonObject::integerOr(const std::string &key, int64_t otherwise, int64_t min, int64_t max) const {
  return absent(key) ? StatusOr<int64_t>(otherwise) : integer(key, min, max);
}

StatusOr<double> JsonObject::numberOr(const std::string &key, double otherwise) const {
  return absent(key) ? StatusOr<double>(otherwise) : number(key);
}

StatusOr<std::string> JsonObject::stringOr(const std::string &key, const std::string &otherwise) const {
  return absent(key) ? StatusOr<std::string>(otherwise) : string(key);
}

} // namespace qrt
