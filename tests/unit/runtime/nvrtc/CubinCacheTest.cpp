// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/nvrtc/CubinCache.h"

#include "tests/unit/runtime/support/TempDirectory.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace qrt;

namespace {

class CubinCacheTest : public testing::Test {
protected:
  void SetUp() override {
    if (StatusOr<const Nvrtc *> nvrtc = Nvrtc::open(); !nvrtc.ok())
      GTEST_SKIP() << nvrtc.status().message();
  }

  /// Compiles add<float>, which a.h declares with the help of b.h; c.h is included by nobody.
  Cubin compile(CubinCache &cache) {
    std::vector<SourceFile> files = {{"a.h", a}, {"b.h", b}, {"c.h", c}};
    StatusOr<Cubin> cubin = cache.compile(files, "#include \"a.h\"\n", "add<float>", "sm_90a");
    EXPECT_TRUE(cubin.ok()) << cubin.status().message();
    return cubin.ok() ? *std::move(cubin) : Cubin{};
  }

  test::TempDirectory folder;
  std::string a = "#include \"b.h\"\ntemplate <typename T> __global__ void add(T *x) { *x += one(); }\n";
  std::string b = "inline float one() { return 1; }\n";
  std::string c = "unused\n";
};

TEST_F(CubinCacheTest, FindsWhatItHasCompiled) {
  CubinCache first(folder.path()), second(folder.path());
  Cubin compiled = compile(first), found = compile(second);
  EXPECT_EQ(std::pair(first.compiled(), first.found()), std::pair(int64_t{1}, int64_t{0}));
  EXPECT_EQ(std::pair(second.compiled(), second.found()), std::pair(int64_t{0}, int64_t{1}));
  EXPECT_EQ(compiled.image, found.image);
  EXPECT_EQ(compiled.symbol, found.symbol);
  EXPECT_EQ(compiled.log, found.log);
}

TEST_F(CubinCacheTest, DependsOnWhatIsIncluded) {
  CubinCache cache(folder.path());
  compile(cache);
  c = "changed\n";
  compile(cache);
  EXPECT_EQ(cache.compiled(), 1) << "a file that nobody includes";
  b = "inline float one() { return 2; }\n";
  compile(cache);
  EXPECT_EQ(cache.compiled(), 2) << "a file that an included one includes";
}

TEST_F(CubinCacheTest, ADamagedFileIsCompiledAgain) {
  CubinCache cache(folder.path());
  Cubin compiled = compile(cache);
  for (const auto &entry : std::filesystem::directory_iterator(folder.path())) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(200);
    file.put('!');
  }
  EXPECT_EQ(compile(cache).image, compiled.image);
  EXPECT_EQ(cache.compiled(), 2);
}

TEST_F(CubinCacheTest, AFileOfOtherSourcesIsCompiledAgain) {
  CubinCache cache(folder.path());
  compile(cache);
  auto only = [&] { return std::filesystem::directory_iterator(folder.path())->path(); };
  std::filesystem::path first = only();
  test::TempDirectory elsewhere;
  std::string kept = elsewhere / "kept.cubin";
  std::filesystem::rename(first, kept);
  b = "inline float one() { return 2; }\n";
  Cubin other = compile(cache);
  std::filesystem::rename(kept, only());
  EXPECT_EQ(compile(cache).image, other.image);
  EXPECT_EQ(cache.compiled(), 3);
}

} // namespace
