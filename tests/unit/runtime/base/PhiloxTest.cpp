// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/Philox.h"

#include <gtest/gtest.h>

using namespace qrt;

// The published known-answer vectors of philox4x32 with 10 rounds; the third has the digits of pi as its input.
static_assert(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627E8D5u, 0xE169C58Du, 0xBC57AC4Cu, 0x9B00DBD8u});

TEST(Philox, KnownAnswers) {
  constexpr uint32_t ones = 0xFFFFFFFFu;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627E8D5u, 0xE169C58Du, 0xBC57AC4Cu, 0x9B00DBD8u}));
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (PhiloxCounter{0x408F276Du, 0x41C83B0Eu, 0xA20BC7C6u, 0x6D5451FDu}));
  EXPECT_EQ(philox4x32({0x243F6A88u, 0x85A308D3u, 0x13198A2Eu, 0x03707344u}, {0xA4093822u, 0x299F31D0u}),
            (PhiloxCounter{0xD16CFE09u, 0x94FDCCEBu, 0x5001E420u, 0x24126EA1u}));
}

TEST(Philox, KeyOfASeed) { EXPECT_EQ(philoxKey(0x0123456789ABCDEFull), (PhiloxKey{0x89ABCDEFu, 0x01234567u})); }

TEST(Philox, UniformBelowIsTheUpperHalfOfTheProduct) {
  constexpr uint64_t ones = ~uint64_t{0};
  for (uint64_t random : {uint64_t{0}, uint64_t{1}, ones, uint64_t{0x123456789ABCDEF0}, uint64_t{1} << 63})
    for (uint64_t bound :
         {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1000}, uint64_t{1} << 32, uint64_t{1} << 40, ones}) {
      __extension__ using Wide = unsigned __int128;
      EXPECT_EQ(uniformBelow(random, bound), static_cast<uint64_t>((Wide{random} * bound) >> 64));
    }
}
