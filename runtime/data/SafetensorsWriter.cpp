// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/SafetensorsWriter.h"

#include "runtime/base/Json.h"

#include <set>

namespace qrt {

namespace {

/// The header's text, padded; the members in the order of the data.
StatusOr<std::string> headerText(const std::string &path, const std::vector<TensorSpec> &tensors,
                                 const std::map<std::string, std::string> &metadata) {
  std::string text = "{";
  if (!metadata.empty()) {
    for (const auto &[key, value] : metadata)
      if (!isUtf8(key) || !isUtf8(value))
        return error(StatusCode::InvalidData, "{}: the metadata of key {} is not UTF-8", path, quoteForMessage(key));
    text += fmt::format("\"__metadata__\":{},", Json(metadata).dump());
  }
  std::set<std::string_view> names;
  int64_t offset = 0;
  for (const TensorSpec &tensor : tensors) {
    if (!isUtf8(tensor.name) || tensor.name == "__metadata__" || !names.insert(tensor.name).second)
      return error(StatusCode::InvalidData, "{}: {} cannot name a tensor: it is there twice, reserved, or not UTF-8",
                   path, quoteForMessage(tensor.name));
    StatusOr<int64_t> bytes = tensorBytes(tensor);
    if (!bytes.ok())
      return std::move(bytes).status().withContext(path);
    int64_t end;
    if (__builtin_add_overflow(offset, *bytes, &end))
      return error(StatusCode::InvalidData, "{}: more bytes than 63 bits can count", path);
    text += fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}},)", Json(tensor.name).dump(),
                        safetensorsName(tensor.dtype), fmt::join(tensor.shape, ","), offset, end);
    offset = end;
  }
  if (text.back() == ',')
    text.pop_back();
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (static_cast<int64_t>(text.size()) > SafetensorsFile::kMaxHeaderBytes)
    return error(StatusCode::InvalidData, "{}: {} tensors need a header of {} bytes, the limit is {}", path,
                 tensors.size(), text.size(), SafetensorsFile::kMaxHeaderBytes);
  return text;
}

} // namespace

StatusOr<SafetensorsWriter> SafetensorsWriter::create(const std::string &path, std::vector<TensorSpec> tensors,
                                                      const std::map<std::string, std::string> &metadata, bool hashed) {
  QRT_ASSIGN_OR_RETURN(std::string header, headerText(path, tensors, metadata));
  QRT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  SafetensorsWriter writer(std::move(file));
  if (hashed)
    writer.hash_.emplace();
  writer.tensors_ = std::move(tensors);
  uint64_t length = header.size();
  QRT_RETURN_IF_ERROR(writer.write(asBytes(std::span<const uint64_t>(&length, 1))));
  QRT_RETURN_IF_ERROR(writer.write(asBytes(header)));
  writer.startTensor(0);
  return writer;
}

Status SafetensorsWriter::write(std::span<const uint8_t> bytes) {
  if (hash_)
    hash_->update(bytes);
  return file_.append(bytes);
}

void SafetensorsWriter::startTensor(size_t index) {
  current_ = index;
  missing_ = index < tensors_.size() ? *tensorBytes(tensors_[index]) : 0;
}

Status SafetensorsWriter::append(const std::string &name, std::span<const uint8_t> bytes) {
  // A tensor without bytes may be appended or left out.
  while (missing_ == 0 && current_ < tensors_.size() && tensors_[current_].name != name)
    startTensor(current_ + 1);
  if (current_ == tensors_.size() || tensors_[current_].name != name)
    return error(StatusCode::InvalidData, "{}: bytes of {} came, expected {}", file_.path(), quoteForMessage(name),
                 current_ == tensors_.size() ? "no more" : "those of " + quoteForMessage(tensors_[current_].name));
  if (static_cast<int64_t>(bytes.size()) > missing_)
    return error(StatusCode::InvalidData, "{}: {}: {} bytes came, but {} are missing of {}", file_.path(),
                 quoteForMessage(name), bytes.size(), missing_, printType(tensors_[current_]));
  missing_ -= static_cast<int64_t>(bytes.size());
  return write(bytes);
}

StatusOr<std::string> SafetensorsWriter::finish() {
  while (missing_ == 0 && current_ < tensors_.size())
    startTensor(current_ + 1);
  if (current_ < tensors_.size())
    return error(StatusCode::InvalidData, "{}: {} lacks {} bytes", file_.path(),
                 quoteForMessage(tensors_[current_].name), missing_);
  QRT_RETURN_IF_ERROR(file_.commit());
  if (!hash_)
    return std::string();
  return hash_->finish();
}

} // namespace qrt
