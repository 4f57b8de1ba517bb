// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executor/DebugDump.h"

#include "runtime/base/Json.h"
#include "runtime/data/SafetensorsWriter.h"

#include <algorithm>

namespace qrt {

bool DebugDump::wants(const DebugValue &value) { return value.isGradient == (kind_ == Kind::Gradients); }

void DebugDump::add(TensorSpec spec, std::span<const std::byte> bytes) {
  const auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
  std::string name = spec.name;
  values_[name] = {std::move(spec), {data, data + bytes.size()}};
}

void DebugDump::addParameter(const Parameter &parameter, DType dtype, std::span<const std::byte> bytes) {
  add({parameter.checkpointNames[0], dtype, parameter.shape}, bytes);
}

Status DebugDump::observe(const DebugValue &value, const TensorShape &shape, std::span<const std::byte> bytes) {
  if (kind_ == Kind::Hidden) {
    add({std::string(value.name), shape.dtype, {shape.dims, shape.dims + shape.rank}}, bytes);
    return Status();
  }
  if (const Parameter *parameter = program_.findParameter(value.name)) {
    addParameter(*parameter, shape.dtype, bytes);
    return Status();
  }
  auto pack = std::find_if(program_.packs().begin(), program_.packs().end(),
                           [&](const Pack &candidate) { return candidate.name == value.name; });
  if (pack == program_.packs().end()) {
    // Of a hidden state.
    add({std::string(value.name), shape.dtype, {shape.dims, shape.dims + shape.rank}}, bytes);
    return Status();
  }
  size_t begin = 0;
  for (uint32_t index : pack->members) {
    const Parameter &member = program_.parameters()[index];
    auto size = static_cast<size_t>(member.elements * byteSize(shape.dtype));
    if (size > bytes.size() - begin)
      return error(StatusCode::InvalidData, "{}: the gradient {} has {} bytes, too few for the members of the pack",
                   program_.source(), quoteForMessage(value.name), bytes.size());
    addParameter(member, shape.dtype, bytes.subspan(begin, size));
    begin += size;
  }
  return Status();
}

Status DebugDump::write(const std::string &path) {
  std::vector<TensorSpec> specs;
  for (const auto &[name, value] : values_)
    specs.push_back(value.spec);
  QRT_ASSIGN_OR_RETURN(SafetensorsWriter writer, SafetensorsWriter::create(path, std::move(specs), {}));
  for (const auto &[name, value] : values_)
    QRT_RETURN_IF_ERROR(writer.append(name, value.bytes));
  values_.clear();
  return writer.finish().status();
}

} // namespace qrt
