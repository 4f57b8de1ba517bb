// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/Sha256.h"

#include <algorithm>
#include <openssl/evp.h>

namespace qrt {

struct Sha256::State {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  bool ok = context && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1;

  State() = default;
  State(const State &) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::Sha256(Sha256 &&) noexcept = default;
Sha256 &Sha256::operator=(Sha256 &&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::span<const uint8_t> bytes) {
  state_->ok = state_->ok && EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1;
}

StatusOr<std::string> Sha256::finish() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (!state_->ok || EVP_DigestFinal_ex(state_->context, digest, &size) != 1)
    return error(StatusCode::Unsupported, "the cryptographic library cannot compute SHA-256");
  std::string text;
  for (unsigned i = 0; i < size; ++i)
    text += fmt::format("{:02x}", digest[i]);
  return text;
}

StatusOr<std::string> sha256(std::span<const uint8_t> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

bool isSha256(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char digit) {
           return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
         });
}

} // namespace qrt
