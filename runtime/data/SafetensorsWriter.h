// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing one safetensors file as a stream: what there is first, then the bytes.
#ifndef RUNTIME_DATA_SAFETENSORSWRITER_H
#define RUNTIME_DATA_SAFETENSORSWRITER_H

#include "runtime/base/File.h"
#include "runtime/base/Sha256.h"
#include "runtime/base/Status.h"
#include "runtime/data/Safetensors.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qrt {

/// The bytes of a file are a function of its arguments and the data. The header is padded to a multiple of 8 bytes; the
/// tensors follow in the order given (widest types first keeps all of them aligned). Memory: the header and a buffer.
class SafetensorsWriter {
public:
  /// `hashed`: the digest of the file is computed on the way. InvalidData for a name that occurs twice, is
  /// "__metadata__" or not UTF-8, and for a shape without a size.
  static StatusOr<SafetensorsWriter> create(const std::string &path, std::vector<TensorSpec> tensors,
                                            const std::map<std::string, std::string> &metadata, bool hashed = false);

  /// The next bytes of tensor `name`, all of it or a piece. The tensors must come in order and be complete, or this is
  /// an InvalidData error.
  Status append(const std::string &name, std::span<const uint8_t> bytes);

  /// The file gets its name; InvalidData if bytes are missing. Returns the digest, empty if not hashed.
  StatusOr<std::string> finish();

private:
  SafetensorsWriter(AtomicFile file) : file_(std::move(file)) {}
  Status write(std::span<const uint8_t> bytes);
  void startTensor(size_t index);

  AtomicFile file_;
  std::optional<Sha256> hash_;
  std::vector<TensorSpec> tensors_;
  /// The tensor being written and what is missing of it.
  size_t current_ = 0;
  int64_t missing_ = 0;
};

} // namespace qrt

#endif // RUNTIME_DATA_SAFETENSORSWRITER_H
