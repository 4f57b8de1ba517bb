// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Safetensors.h"

#include "runtime/base/Json.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace qrt {

namespace {

struct Entry {
  TensorSpec spec;
  int64_t begin;
  int64_t end;
};

StatusOr<Entry> readEntry(const std::string &name, const Json &value, const std::string &source, int64_t dataBytes) {
  std::string place = quoteForMessage(name);
  QRT_ASSIGN_OR_RETURN(JsonObject object, JsonObject::at(value, source, place));
  Entry entry;
  entry.spec.name = name;
  QRT_ASSIGN_OR_RETURN(std::string dtype, object.string("dtype"));
  std::optional<DType> known = dtypeFromSafetensors(dtype);
  if (!known)
    return error(StatusCode::Unsupported, "{}: {}: unknown dtype {}", source, place, quoteForMessage(dtype));
  entry.spec.dtype = *known;
  QRT_ASSIGN_OR_RETURN(entry.spec.shape, object.integers("shape", 0));
  QRT_ASSIGN_OR_RETURN(std::vector<int64_t> offsets, object.integers("data_offsets", 0));
  if (offsets.size() != 2)
    return object.fail("data_offsets", fmt::format("expected 2 numbers, got {}", offsets.size()));
  entry.begin = offsets[0];
  entry.end = offsets[1];
  if (entry.begin > entry.end || entry.end > dataBytes)
    return object.fail("data_offsets", fmt::format("expected a range of the {} bytes of data, got {} to {}", dataBytes,
                                                   entry.begin, entry.end));
  StatusOr<int64_t> bytes = tensorBytes(entry.spec);
  if (!bytes.ok())
    return std::move(bytes).status().withContext(source);
  if (*bytes != entry.end - entry.begin)
    return object.fail("data_offsets", fmt::format("{} takes {} bytes, but {} to {} are {}", printType(entry.spec),
                                                   *bytes, entry.begin, entry.end, entry.end - entry.begin));
  return entry;
}

} // namespace

StatusOr<int64_t> elementCount(std::span<const int64_t> shape) {
  int64_t product = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return error(StatusCode::InvalidData, "shape [{}]: negative dimension", fmt::join(shape, ", "));
    empty = empty || extent == 0;
    if (__builtin_mul_overflow(product, std::max<int64_t>(extent, 1), &product))
      return error(StatusCode::InvalidData, "shape [{}]: more elements than 63 bits can count", fmt::join(shape, ", "));
  }
  return empty ? 0 : product;
}

StatusOr<int64_t> tensorBytes(const TensorSpec &spec) {
  StatusOr<int64_t> elements = elementCount(spec.shape);
  if (!elements.ok())
    return std::move(elements).status().withContext(quoteForMessage(spec.name));
  int64_t bytes;
  if (__builtin_mul_overflow(*elements, byteSize(spec.dtype), &bytes))
    return error(StatusCode::InvalidData, "{}: {} has more bytes than 63 bits can count", quoteForMessage(spec.name),
                 printType(spec));
  return bytes;
}

std::string printType(const TensorSpec &spec) {
  return fmt::format("{}[{}]", dtypeName(spec.dtype), fmt::join(spec.shape, ", "));
}

StatusOr<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  QRT_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::open(path));
  QRT_ASSIGN_OR_RETURN(SafetensorsFile file, parse(mapped.bytes(), path));
  file.file_ = std::move(mapped);
  return file;
}

StatusOr<SafetensorsFile> SafetensorsFile::parse(std::span<const uint8_t> bytes, const std::string &source) {
  uint64_t headerBytes = 0;
  if (bytes.size() < sizeof(headerBytes))
    return error(StatusCode::InvalidData, "{}: not a safetensors file: {} bytes, a header length alone has 8", source,
                 bytes.size());
  std::memcpy(&headerBytes, bytes.data(), sizeof(headerBytes));
  std::span<const uint8_t> rest = bytes.subspan(sizeof(headerBytes));
  if (headerBytes > static_cast<uint64_t>(kMaxHeaderBytes) || headerBytes > rest.size())
    return error(
        StatusCode::InvalidData,
        "{}: not a safetensors file, or a truncated one: the header should have {} bytes, {} follow (the limit "
        "is {})",
        source, headerBytes, rest.size(), kMaxHeaderBytes);
  std::string_view text(reinterpret_cast<const char *>(rest.data()), static_cast<size_t>(headerBytes));
  if (!text.starts_with('{'))
    return error(StatusCode::InvalidData, "{}: not a safetensors file: the header does not begin with '{{'", source);

  QRT_ASSIGN_OR_RETURN(Json header, parseJson(text, source, {.maxBytes = kMaxHeaderBytes}));
  QRT_ASSIGN_OR_RETURN(JsonObject root, JsonObject::root(header, source));
  SafetensorsFile file;
  file.source_ = source;
  file.bytes_ = bytes;
  file.data_ = rest.subspan(static_cast<size_t>(headerBytes));
  const int64_t dataBytes = static_cast<int64_t>(file.data_.size());

  std::vector<Entry> entries;
  entries.reserve(root.members().size());
  for (const auto &[name, value] : root.members()) {
    if (name == "__metadata__") {
      QRT_ASSIGN_OR_RETURN(JsonObject metadata, JsonObject::at(value, source, name));
      for (const auto &[key, unused] : metadata.members()) {
        QRT_ASSIGN_OR_RETURN(file.metadata_[key], metadata.string(key));
      }
      continue;
    }
    QRT_ASSIGN_OR_RETURN(Entry entry, readEntry(name, value, source, dataBytes));
    entries.push_back(std::move(entry));
  }

  // By name too: tensors without bytes can share a place.
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return std::tie(a.begin, a.end, a.spec.name) < std::tie(b.begin, b.end, b.spec.name);
  });
  int64_t covered = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].begin < covered)
      return error(StatusCode::InvalidData, "{}: the bytes of {} and of {} overlap", source,
                   quoteForMessage(entries[i - 1].spec.name), quoteForMessage(entries[i].spec.name));
    if (entries[i].begin > covered)
      return error(StatusCode::InvalidData, "{}: bytes {} to {} of the data, before {}, belong to no tensor", source,
                   covered, entries[i].begin, quoteForMessage(entries[i].spec.name));
    covered = entries[i].end;
    file.offsets_.push_back(entries[i].begin);
  }
  if (covered != dataBytes)
    return error(StatusCode::InvalidData, "{}: bytes {} to {} at the end of the data belong to no tensor", source,
                 covered, dataBytes);
  file.offsets_.push_back(covered);

  file.tensors_.reserve(entries.size());
  for (Entry &entry : entries)
    file.tensors_.push_back(std::move(entry.spec));
  file.byName_.resize(file.tensors_.size());
  std::iota(file.byName_.begin(), file.byName_.end(), 0u);
  std::sort(file.byName_.begin(), file.byName_.end(),
            [&](uint32_t a, uint32_t b) { return file.tensors_[a].name < file.tensors_[b].name; });
  return file;
}

TensorView SafetensorsFile::view(size_t index) const {
  size_t begin = static_cast<size_t>(offsets_[index]);
  return {&tensors_[index], data_.subspan(begin, static_cast<size_t>(offsets_[index + 1]) - begin)};
}

std::optional<TensorView> SafetensorsFile::find(std::string_view name) const {
  auto found = std::lower_bound(byName_.begin(), byName_.end(), name,
                                [&](uint32_t index, std::string_view wanted) { return tensors_[index].name < wanted; });
  if (found == byName_.end() || tensors_[*found].name != name)
    return std::nullopt;
  return view(*found);
}

StatusOr<TensorView> SafetensorsFile::tensor(std::string_view name) const {
  std::optional<TensorView> found = find(name);
  if (!found)
    return error(StatusCode::InvalidData, "{}: no tensor {}", source_, quoteForMessage(name));
  return *found;
}

StatusOr<TensorView> SafetensorsFile::tensor(std::string_view name, DType dtype, size_t rank) const {
  QRT_ASSIGN_OR_RETURN(TensorView found, tensor(name));
  if (found.spec->dtype != dtype || found.spec->shape.size() != rank)
    return error(StatusCode::InvalidData, "{}: {}: expected {} of rank {}, got {}", source_, quoteForMessage(name),
                 dtypeName(dtype), rank, printType(*found.spec));
  return found;
}

} // namespace qrt
