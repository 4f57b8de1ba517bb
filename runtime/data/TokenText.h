// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_DATA_TOKENTEXT_H
#define RUNTIME_DATA_TOKENTEXT_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace qrt {

/// The bytes of each token of a byte-level BPE tokenizer, for people to read what a model is trained on. It decodes
/// only.
class TokenText {
public:
  /// Reads DIRECTORY/tokenizer.json. Unsupported if its decoder is not byte-level.
  static StatusOr<TokenText> open(const std::string &directory);

  /// The bytes of a token; of an unknown id "<id>". A token may hold part of a character.
  std::string text(int32_t id) const;

private:
  std::vector<std::string> texts_;
};

} // namespace qrt

#endif // RUNTIME_DATA_TOKENTEXT_H
