// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code of a program that the driver must not see.
#include "runtime/backends/cuda/DeviceCode.h"

#include "tests/unit/runtime/support/TinyProgram.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace qrt;
using namespace qrt::cuda;

namespace {

/// The smallest image: a header, and tables of two sections and one segment.
class Image {
public:
  Image() : bytes_(64 + 2 * 64 + 56 + 16) {
    constexpr uint8_t kMagic[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    std::memcpy(bytes_.data(), kMagic, sizeof(kMagic));
    set<uint16_t>(18, 190);
    set<uint64_t>(32, 192); // segments
    set<uint64_t>(40, 64);  // sections
    set<uint16_t>(54, 56);
    set<uint16_t>(56, 1);
    set<uint16_t>(58, 64);
    set<uint16_t>(60, 2);
    set<uint16_t>(62, 1);
    setSection(1, 248, 16);
  }

  template <typename T> Image &set(size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof(value));
    return *this;
  }
  Image &setSection(size_t index, uint64_t offset, uint64_t size, uint32_t type = 1) {
    size_t at = 64 + index * 64;
    return set<uint32_t>(at + 4, type).set<uint64_t>(at + 24, offset).set<uint64_t>(at + 32, size);
  }
  Image &resize(size_t bytes) {
    bytes_.resize(bytes);
    return *this;
  }
  const std::vector<uint8_t> &bytes() const { return bytes_; }
  std::string refusal() const {
    Status status = checkImage("f", bytes_);
    return status.ok() ? "" : status.message();
  }

private:
  std::vector<uint8_t> bytes_;
};

TEST(DeviceCode, TakesWhatIsWhole) {
  EXPECT_EQ(Image().refusal(), "");
  EXPECT_EQ(Image().setSection(1, uint64_t{1} << 40, uint64_t{1} << 40, 8).refusal(), "") << "it has no bytes";
}

TEST(DeviceCode, RefusesWhatTheDriverWouldReadPastItsEnd) {
  EXPECT_NE(Image().resize(0).refusal(), "");
  EXPECT_NE(Image().resize(1).refusal(), "");
  EXPECT_EQ(Image().set<uint8_t>(0, '/').refusal(),
            "machine code of f, 264 bytes: expected a CUDA ELF file, got another beginning");
  EXPECT_NE(Image().set<uint16_t>(18, 62).refusal(), "") << "x86-64";
  EXPECT_NE(Image().resize(263).refusal(), "") << "the last section";
  EXPECT_NE(Image().set<uint16_t>(60, 4).refusal(), "") << "more sections than there are";
  EXPECT_NE(Image().set<uint64_t>(40, ~uint64_t{0} - 8).refusal(), "") << "an offset that overflows";
  EXPECT_NE(Image().set<uint64_t>(32, 209).refusal(), "") << "segments";
  EXPECT_NE(Image().set<uint16_t>(58, 32).refusal(), "") << "sections of another size";
  EXPECT_NE(Image().set<uint16_t>(62, 2).refusal(), "") << "names in no section";
  EXPECT_NE(Image().setSection(0, 264, 1).refusal(), "");
  EXPECT_NE(Image().setSection(0, 8, ~uint64_t{0}).refusal(), "");
}

/// What is said of the function f of a program with this code of it, built from these sources.
std::string refusal(std::string_view sources, const std::vector<uint8_t> &image, const char *function = "f") {
  test::TinyProgram tiny;
  tiny.builder.program.device_sources = sources;
  auto &code = *tiny.builder.program.device_functions.emplace_back(std::make_unique<fb::DeviceFunctionT>());
  code.name = "f";
  code.symbol = "_Z1fv";
  code.image = image;
  StatusOr<Program> built = tiny.build();
  EXPECT_TRUE(built.ok()) << built.status().message();
  StatusOr<DeviceCode> found = deviceCodeOf(*built, function);
  return found.ok() ? found->symbol : found.status().message();
}

TEST(DeviceCode, IsOfTheSourcesOfThisVersion) {
  EXPECT_EQ(refusal(deviceSourcesDigest(), Image().bytes()), "_Z1fv");
  EXPECT_NE(refusal(std::string(64, '0'), Image().bytes())
                .find("of other device sources than those of this version: "
                      "it was built by program-builder; build it again"),
            std::string::npos);
  EXPECT_NE(refusal(deviceSourcesDigest(), Image().bytes(), "g").find("holds no machine code of g"), std::string::npos);
  EXPECT_NE(refusal(deviceSourcesDigest(), {1}).find("machine code of f, 1 bytes"), std::string::npos);
}

} // namespace
