// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/TokenText.h"

#include "runtime/base/File.h"
#include "runtime/base/Json.h"

#include <map>

namespace qrt {

/// Byte-level tokenizers spell each byte as a printable character: the printable ones of Latin-1 as themselves, the
/// other 68 as U+0100 and up, in order.
static std::map<uint32_t, char> byteOfCharacter() {
  std::map<uint32_t, char> bytes;
  uint32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    bytes[printable ? static_cast<uint32_t>(byte) : next++] = static_cast<char>(byte);
  }
  return bytes;
}

/// The code point at `text[i]` of valid UTF-8; `i` moves past it.
static uint32_t nextCharacter(const std::string &text, size_t &i) {
  auto lead = static_cast<uint8_t>(text[i++]);
  int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  uint32_t character = more == 0 ? lead : lead & (0x3Fu >> more);
  for (; more > 0; --more)
    character = character << 6 | (static_cast<uint8_t>(text[i++]) & 0x3Fu);
  return character;
}

StatusOr<TokenText> TokenText::open(const std::string &directory) {
  std::string path = joinPath(directory, "tokenizer.json");
  QRT_ASSIGN_OR_RETURN(Json json, readJsonFile(path));
  QRT_ASSIGN_OR_RETURN(JsonObject root, JsonObject::root(json, path));
  QRT_ASSIGN_OR_RETURN(JsonObject decoder, root.object("decoder"));
  QRT_ASSIGN_OR_RETURN(std::string type, decoder.string("type"));
  if (type != "ByteLevel")
    return error(StatusCode::Unsupported, "{}: decoder.type: expected ByteLevel, got {}", path, quoteForMessage(type));

  TokenText tokens;
  auto set = [&tokens](int64_t id, std::string text) {
    if (id >= static_cast<int64_t>(tokens.texts_.size()))
      tokens.texts_.resize(static_cast<size_t>(id) + 1);
    tokens.texts_[static_cast<size_t>(id)] = std::move(text);
  };
  constexpr int64_t kMaxId = int64_t{1} << 24;
  const std::map<uint32_t, char> bytes = byteOfCharacter();
  QRT_ASSIGN_OR_RETURN(JsonObject model, root.object("model"));
  QRT_ASSIGN_OR_RETURN(JsonObject vocabulary, model.object("vocab"));
  for (const auto &[token, value] : vocabulary.members()) {
    QRT_ASSIGN_OR_RETURN(int64_t id, vocabulary.integer(token, 0, kMaxId));
    std::string text;
    for (size_t i = 0; i < token.size();) {
      auto byte = bytes.find(nextCharacter(token, i));
      if (byte == bytes.end())
        return vocabulary.fail(token, "not spelled in the characters of a byte-level tokenizer");
      text += byte->second;
    }
    set(id, std::move(text));
  }
  if (root.has("added_tokens")) {
    QRT_ASSIGN_OR_RETURN(const Json::array_t *added, root.array("added_tokens"));
    for (const Json &entry : *added) {
      QRT_ASSIGN_OR_RETURN(JsonObject token, JsonObject::at(entry, path, "added_tokens"));
      QRT_ASSIGN_OR_RETURN(int64_t id, token.integer("id", 0, kMaxId));
      QRT_ASSIGN_OR_RETURN(std::string content, token.string("content"));
      set(id, std::move(content));
    }
  }
  return tokens;
}

std::string TokenText::text(int32_t id) const {
  if (id < 0 || static_cast<size_t>(id) >= texts_.size() || texts_[static_cast<size_t>(id)].empty())
    return fmt::format("<{}>", id);
  return texts_[static_cast<size_t>(id)];
}

} // namespace qrt
