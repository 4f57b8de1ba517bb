// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BASE_IGNOREDLABEL_H
#define RUNTIME_BASE_IGNOREDLABEL_H

#include <cstdint>

namespace qrt {

/// The label of a token that trains nothing: what PyTorch's cross-entropy and Hugging Face's trainers ignore.
constexpr int32_t kIgnoredLabel = -100;

} // namespace qrt

#endif // RUNTIME_BASE_IGNOREDLABEL_H
