// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/cuda/MachineCode.h"

#include <algorithm>
#include <cstring>

namespace qrt::cuda::test {
namespace {

/// The fields of a section's header (System V ABI, "Object files").
struct Section {
  uint32_t name, type;
  uint64_t flags, address, offset, size;
  uint32_t link, info;
  uint64_t alignment, entrySize;
};
static_assert(sizeof(Section) == 64);

template <typename T> T numberAt(std::span<const uint8_t> image, size_t offset) {
  T value;
  std::memcpy(&value, image.data() + offset, sizeof(value));
  return value;
}

/// The instructions of a function, empty if the image has none of that name.
std::span<const uint8_t> codeOf(std::span<const uint8_t> image, const std::string &symbol) {
  auto sectionAt = [&](size_t index) {
    return numberAt<Section>(image, numberAt<uint64_t>(image, 40) + index * sizeof(Section));
  };
  Section names = sectionAt(numberAt<uint16_t>(image, 62));
  const auto *text = reinterpret_cast<const char *>(image.data() + names.offset);
  for (size_t i = 0; i < numberAt<uint16_t>(image, 60); ++i) {
    Section section = sectionAt(i);
    if (section.name < names.size && std::string_view(text + section.name) == ".text." + symbol)
      return image.subspan(section.offset, section.size);
  }
  return {};
}

/// An instruction is 16 bytes. The lowest nine bits say what it does, the next three the form of its operands, the next
/// four under which predicate; none is 7. Nothing documents this: it is how nvdisasm 13.2 reads what NVRTC 13.0 makes.
constexpr size_t kInstructionBytes = 16;
constexpr unsigned kNoPredicate = 7;
constexpr unsigned kWait = 0x02e; // ACQBULK, griddepcontrol.wait

/// Accesses to memory, control flow and everything else of unknown duration have numbers from 0x100 on; of these, what
/// reads constants and special registers, and conversions: LDC, S2R, S2UR, I2F.
constexpr unsigned kFirstOfUnknownDuration = 0x100;
constexpr unsigned kHarmless[] = {0x182, 0x119, 0x1c3, 0x106};

} // namespace

Status checkAwaitsEarlierGrids(const Cubin &cubin) {
  std::span<const uint8_t> code = codeOf(cubin.image, cubin.symbol);
  for (size_t at = 0; at + kInstructionBytes <= code.size(); at += kInstructionBytes) {
    auto word = numberAt<uint16_t>(code, at);
    unsigned operation = word & 0x1FF, predicate = word >> 12;
    if (operation == kWait && predicate == kNoPredicate)
      return Status();
    if (operation == kWait || (operation >= kFirstOfUnknownDuration &&
                               std::find(std::begin(kHarmless), std::end(kHarmless), operation) == std::end(kHarmless)))
      return error(StatusCode::InvalidData,
                   "{}: expected a wait for earlier grids at its beginning, got operation 0x{:03x} under predicate {} "
                   "at byte {} before any",
                   cubin.symbol, operation, predicate, at);
  }
  return error(StatusCode::InvalidData, "{}: expected a wait for earlier grids, got none in {} bytes", cubin.symbol,
               code.size());
}

} // namespace qrt::cuda::test
