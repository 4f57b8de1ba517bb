// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading one safetensors file: 8 bytes header length, a JSON header, then the tensors' bytes without gaps.
#ifndef RUNTIME_DATA_SAFETENSORS_H
#define RUNTIME_DATA_SAFETENSORS_H

#include "runtime/base/DType.h"
#include "runtime/base/File.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qrt {

/// A tensor as a file names it; row-major, the last dimension innermost.
struct TensorSpec {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;

  bool operator==(const TensorSpec &) const = default;
};

/// Elements of a shape. InvalidData if a dimension is negative or the product of the non-zero ones exceeds 63 bits (so
/// that no stride computed later overflows either).
StatusOr<int64_t> elementCount(std::span<const int64_t> shape);

/// Bytes of a tensor; fails like elementCount, naming the tensor.
StatusOr<int64_t> tensorBytes(const TensorSpec &spec);

/// "bf16[16, 64]".
std::string printType(const TensorSpec &spec);

/// A tensor in a file. Its bytes need not be aligned to the element: read them with `at` and `copy`, or bytewise.
struct TensorView {
  const TensorSpec *spec;
  std::span<const uint8_t> bytes;

  int64_t elements() const { return static_cast<int64_t>(bytes.size()) / byteSize(spec->dtype); }

  /// Element `index`; T has the size of the tensor's type.
  template <typename T> T at(int64_t index) const {
    assert(static_cast<int64_t>(sizeof(T)) == byteSize(spec->dtype) && index >= 0 && index < elements());
    T value;
    std::memcpy(&value, bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
    return value;
  }

  /// Elements [begin, begin + out.size()).
  template <typename T> void copy(int64_t begin, std::span<T> out) const {
    assert(static_cast<int64_t>(sizeof(T)) == byteSize(spec->dtype) && begin >= 0 &&
           begin + static_cast<int64_t>(out.size()) <= elements());
    if (!out.empty())
      std::memcpy(out.data(), bytes.data() + static_cast<size_t>(begin) * sizeof(T), out.size_bytes());
  }
};

/// An open file; its header has been checked in full: every tensor has a known type, a shape whose bytes are those of
/// its range, and the ranges cover the data exactly once. The data is mapped, not read.
class SafetensorsFile {
public:
  /// The longest header that is read, as in the format's reference implementation.
  static constexpr int64_t kMaxHeaderBytes = 100'000'000;

  static StatusOr<SafetensorsFile> open(const std::string &path);

  /// The same for bytes in memory, which must outlive the object; `source` stands for the path in messages.
  static StatusOr<SafetensorsFile> parse(std::span<const uint8_t> bytes, const std::string &source);

  const std::string &path() const { return source_; }
  /// The whole file.
  std::span<const uint8_t> bytes() const { return bytes_; }
  /// In the order of the data.
  const std::vector<TensorSpec> &tensors() const { return tensors_; }
  const std::map<std::string, std::string> &metadata() const { return metadata_; }

  std::optional<TensorView> find(std::string_view name) const;
  /// InvalidData if there is none of this name.
  StatusOr<TensorView> tensor(std::string_view name) const;
  /// InvalidData also if it has another type or rank.
  StatusOr<TensorView> tensor(std::string_view name, DType dtype, size_t rank) const;

private:
  SafetensorsFile() = default;
  TensorView view(size_t index) const;

  std::string source_;
  std::optional<MappedFile> file_;
  std::span<const uint8_t> bytes_;
  std::span<const uint8_t> data_;
  std::vector<TensorSpec> tensors_;
  /// [tensors + 1] where each tensor's bytes begin in data_, then the end.
  std::vector<int64_t> offsets_;
  /// Indices of tensors_, sorted by name.
  std::vector<uint32_t> byName_;
  std::map<std::string, std::string> metadata_;
};

} // namespace qrt

#endif // RUNTIME_DATA_SAFETENSORS_H
