// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qrun/OptionsText.h"

#include "runtime/base/Json.h"

#include <algorithm>
#include <set>

namespace qrt {
namespace {

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

class Parser {
public:
  Parser(std::string_view text, const std::string &source) : text_(text), source_(source) {}

  StatusOr<std::vector<OptionEntry>> entries();

private:
  template <typename... Args> Status fail(fmt::format_string<Args...> format, Args &&...args) const {
    return Status(StatusCode::InvalidUsage,
                  fmt::format("{}:{}: {}", source_, line_, fmt::format(format, std::forward<Args>(args)...)));
  }

  bool atEnd() const { return at_ == text_.size(); }
  char peek() const { return atEnd() ? '\n' : text_[at_]; }
  bool take(char c) {
    if (atEnd() || text_[at_] != c)
      return false;
    line_ += c == '\n';
    ++at_;
    return true;
  }
  void skipBlanks() {
    while (take(' ') || take('\t') || take('\r')) {
    }
  }
  void skipComment() {
    if (peek() == '#')
      while (!atEnd() && peek() != '\n')
        ++at_;
  }
  /// Blanks, comments and line feeds.
  void skipSpace() {
    do {
      skipBlanks();
      skipComment();
    } while (take('\n'));
  }

  StatusOr<std::string> key();
  StatusOr<std::string> quoted(const std::string &key);
  StatusOr<OptionValue> value(const std::string &key);
  StatusOr<std::vector<OptionValue>> values(const std::string &key);

  std::string_view text_;
  const std::string &source_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

StatusOr<std::string> Parser::key() {
  if (peek() == '[')
    return fail("a file holds the options of one command, without sections like {}",
                quoteForMessage(text_.substr(at_, text_.find('\n', at_) - at_)));
  if (peek() == '"' || peek() == '\'')
    return quoted("a key");
  size_t begin = at_;
  while (isLetter(peek()) || isDigit(peek()) || peek() == '-' || peek() == '_')
    ++at_;
  if (at_ == begin)
    return fail("expected `option = value`, got {}",
                quoteForMessage(text_.substr(begin, text_.find('\n', begin) - begin)));
  return std::string(text_.substr(begin, at_ - begin));
}

/// A "basic" text with escapes, or a 'literal' one without, on one line.
StatusOr<std::string> Parser::quoted(const std::string &key) {
  char quote = text_[at_++];
  std::string result;
  while (!take(quote)) {
    if (peek() == '\n')
      return fail("{}: the text does not end on its line: a {} is missing", key, quote);
    char c = text_[at_++];
    if (c != '\\' || quote == '\'') {
      result += c;
      continue;
    }
    constexpr std::string_view kEscapes = "\\\"tnrbf", kMeanings = "\\\"\t\n\r\b\f";
    size_t escape = kEscapes.find(peek());
    if (escape == std::string_view::npos)
      return fail("{}: expected a character of {} after \\, got {}; 'text' in single quotes has no escapes", key,
                  kEscapes, quoteForMessage(text_.substr(at_, 1)));
    result += kMeanings[escape];
    ++at_;
  }
  return result;
}

StatusOr<OptionValue> Parser::value(const std::string &key) {
  OptionValue result;
  if (peek() == '"' || peek() == '\'') {
    QRT_ASSIGN_OR_RETURN(result.text, quoted(key));
    return result;
  }
  size_t begin = at_;
  while (peek() != '\n' && peek() != ',' && peek() != ']' && peek() != '#' && peek() != ' ' && peek() != '\t' &&
         peek() != '\r')
    ++at_;
  result.text = text_.substr(begin, at_ - begin);
  std::string_view word = result.text;
  if (word == "true" || word == "false") {
    result.kind = OptionValue::Kind::Boolean;
    return result;
  }
  if (word.starts_with('-') || word.starts_with('+'))
    word.remove_prefix(1);
  if (!word.empty() && (isDigit(word.front()) || word == "inf" || word == "nan")) {
    result.kind = OptionValue::Kind::Number;
    std::erase(result.text, '_');
    return result;
  }
  return fail("{}: expected \"text\" in quotes, a number, true, false or a list of them, got {}", key,
              result.text.empty() ? "nothing" : quoteForMessage(result.text));
}

StatusOr<std::vector<OptionValue>> Parser::values(const std::string &key) {
  std::vector<OptionValue> result;
  if (!take('[')) {
    QRT_ASSIGN_OR_RETURN(OptionValue one, value(key));
    result.push_back(std::move(one));
    return result;
  }
  for (skipSpace(); !take(']'); skipSpace()) {
    QRT_ASSIGN_OR_RETURN(OptionValue one, value(key));
    result.push_back(std::move(one));
    skipSpace();
    if (!take(',') && peek() != ']')
      return fail("{}: expected , or ] in the list", key);
  }
  if (result.empty())
    return fail("{}: expected a value, got an empty list", key);
  return result;
}

StatusOr<std::vector<OptionEntry>> Parser::entries() {
  std::vector<OptionEntry> result;
  std::set<std::string> known;
  for (skipSpace(); !atEnd(); skipSpace()) {
    OptionEntry entry;
    entry.line = line_;
    QRT_ASSIGN_OR_RETURN(entry.key, key());
    if (!known.insert(entry.key).second)
      return fail("{}: is there twice", entry.key);
    skipBlanks();
    if (!take('='))
      return fail("expected `option = value`, got no = after {}", entry.key);
    skipBlanks();
    QRT_ASSIGN_OR_RETURN(entry.values, values(entry.key));
    skipBlanks();
    skipComment();
    if (!atEnd() && peek() != '\n')
      return fail("{}: expected the end of the line after the value, got {}", entry.key,
                  quoteForMessage(text_.substr(at_, text_.find('\n', at_) - at_)));
    result.push_back(std::move(entry));
  }
  return result;
}

std::string printValue(const OptionValue &value) {
  if (value.kind != OptionValue::Kind::Text)
    return value.text;
  std::string result = "\"";
  for (char c : value.text)
    switch (c) {
    case '\\':
    case '"':
      result += '\\';
      result += c;
      break;
    case '\n':
      result += "\\n";
      break;
    default:
      result += c;
    }
  return result + "\"";
}

} // namespace

StatusOr<std::vector<OptionEntry>> parseOptionsText(std::string_view text, const std::string &source) {
  return Parser(text, source).entries();
}

std::string printOption(const std::string &key, const std::vector<OptionValue> &values) {
  std::vector<std::string> texts;
  for (const OptionValue &value : values)
    texts.push_back(printValue(value));
  return texts.size() == 1 ? fmt::format("{} = {}\n", key, texts.front())
                           : fmt::format("{} = [{}]\n", key, fmt::join(texts, ", "));
}

} // namespace qrt
