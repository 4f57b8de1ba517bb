// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Dump.h"

#include <algorithm>

#include "runtime/data/SafetensorsWriter.h"

namespace qrt {

void TensorDump::add(TensorSpec spec, std::span<const std::byte> bytes) {
  specs_.push_back(std::move(spec));
  bytes_.emplace_back(bytes.begin(), bytes.end());
}

Status TensorDump::write(const std::string &directory, const std::string &name) {
  QRT_RETURN_IF_ERROR(createDirectories(directory));
  std::string path = joinPath(directory, name + ".safetensors");
  QRT_ASSIGN_OR_RETURN(SafetensorsWriter writer, SafetensorsWriter::create(path, specs_, {}));
  for (size_t i = 0; i < specs_.size(); ++i)
    QRT_RETURN_IF_ERROR(writer.append(specs_[i].name, asBytes(std::span<const std::byte>(bytes_[i]))));
  QRT_ASSIGN_OR_RETURN([[maybe_unused]] std::string digest, writer.finish());
  specs_.clear();
  bytes_.clear();
  return Status();
}

Status HiddenDump::observe(const DebugValue &value, const TensorShape &shape, std::span<const std::byte> bytes) {
  tensors_.add({std::string(value.name), shape.dtype, {shape.dims, shape.dims + shape.rank}}, bytes);
  return Status();
}

Status GradientDump::observe(const DebugValue &value, const TensorShape &shape, std::span<const std::byte> bytes) {
  if (const Parameter *parameter = program_.findParameter(value.name)) {
    tensors_.add({parameter->checkpointNames.front(), shape.dtype, parameter->shape}, bytes);
    return Status();
  }
  auto pack = std::find_if(program_.packs().begin(), program_.packs().end(),
                           [&](const Pack &candidate) { return candidate.name == value.name; });
  if (pack == program_.packs().end())
    return error(StatusCode::InvalidData, "{}: the debug table has a gradient of {}, which is no parameter and no pack",
                 program_.source(), value.name);
  size_t offset = 0;
  for (uint32_t index : pack->members) {
    const Parameter &member = program_.parameters()[index];
    auto size = static_cast<size_t>(member.elements * byteSize(shape.dtype));
    if (size > bytes.size() - offset)
      return error(StatusCode::InvalidData, "{}: the gradient of {} has {} bytes, too few for its members",
                   program_.source(), value.name, bytes.size());
    tensors_.add({member.checkpointNames.front(), shape.dtype, member.shape}, bytes.subspan(offset, size));
    offset += size;
  }
  return Status();
}

} // namespace qrt
