// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/DeviceCode.h"

#include <cstring>

namespace qrt::cuda {
namespace {

// The fields of an ELF file that lead to its parts (System V ABI, "Object files"), little-endian.
constexpr size_t kHeaderBytes = 64, kSectionBytes = 64, kSegmentBytes = 56;
constexpr uint16_t kMachineCuda = 190;
constexpr uint32_t kSectionWithoutBytes = 8;

template <typename T> T numberAt(std::span<const uint8_t> image, size_t offset) {
  T value;
  std::memcpy(&value, image.data() + offset, sizeof(value));
  return value;
}

/// Whether `count` things of `size` bytes lie in the image from `offset` on.
bool holds(std::span<const uint8_t> image, uint64_t offset, uint64_t count, uint64_t size) {
  return offset <= image.size() && count <= (image.size() - offset) / size;
}

} // namespace

std::string_view deviceSourcesDigest() {
  return
#include "runtime/backends/cuda/DeviceSourcesDigest.inc"
      ;
}

Status checkImage(std::string_view function, std::span<const uint8_t> image) {
  auto damaged = [&](std::string_view what) {
    return error(StatusCode::InvalidData, "machine code of {}, {} bytes: expected a CUDA ELF file, {}", function,
                 image.size(), what);
  };
  constexpr uint8_t kMagic[] = {0x7f, 'E', 'L', 'F', 2, 1};
  if (image.size() < kHeaderBytes || std::memcmp(image.data(), kMagic, sizeof(kMagic)) != 0)
    return damaged("got another beginning");
  if (uint16_t machine = numberAt<uint16_t>(image, 18); machine != kMachineCuda)
    return damaged(fmt::format("got one of machine {}", machine));
  auto segments = numberAt<uint64_t>(image, 32), sections = numberAt<uint64_t>(image, 40);
  uint16_t segmentCount = numberAt<uint16_t>(image, 56), sectionCount = numberAt<uint16_t>(image, 60),
           names = numberAt<uint16_t>(image, 62);
  if ((segmentCount > 0 && numberAt<uint16_t>(image, 54) != kSegmentBytes) ||
      numberAt<uint16_t>(image, 58) != kSectionBytes || names >= sectionCount ||
      !holds(image, segments, segmentCount, kSegmentBytes) || !holds(image, sections, sectionCount, kSectionBytes))
    return damaged("got tables that are not in it");
  for (size_t i = 0; i < sectionCount; ++i) {
    size_t section = sections + i * kSectionBytes;
    if (numberAt<uint32_t>(image, section + 4) != kSectionWithoutBytes &&
        !holds(image, numberAt<uint64_t>(image, section + 24), numberAt<uint64_t>(image, section + 32), 1))
      return damaged(fmt::format("got section {} past its end", i));
  }
  return Status();
}

StatusOr<DeviceCode> deviceCodeOf(const Program &program, const std::string &function) {
  constexpr std::string_view kAdvice = "build it again with the compiler of this version";
  if (program.deviceSources() != deviceSourcesDigest())
    return error(StatusCode::Unsupported,
                 "{}: its machine code is of other device sources than those of this version: it was built by {}; {}",
                 program.source(), program.producer(), kAdvice);
  const DeviceFunction *found = program.findDeviceFunction(function);
  if (!found)
    return error(StatusCode::Unsupported, "{}: holds no machine code of {}: it was built by {}; {}", program.source(),
                 function, program.producer(), kAdvice);
  QRT_RETURN_IF_ERROR(checkImage(function, found->image).withContext(program.source()));
  return DeviceCode{std::string(found->symbol), {found->image.begin(), found->image.end()}};
}

} // namespace qrt::cuda
