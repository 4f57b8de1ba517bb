// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/File.h"

#include "tests/unit/runtime/support/StatusMatchers.h"
#include "tests/unit/runtime/support/TempDirectory.h"

#include <sys/stat.h>
#include <unistd.h>

using namespace qrt;
using qrt::test::TempDirectory;

namespace {

std::string textOf(std::span<const uint8_t> bytes) { return std::string(bytes.begin(), bytes.end()); }

} // namespace

TEST(File, WritesReadsAndMaps) {
  TempDirectory directory;
  std::string path = directory / "a";
  for (std::string contents : {std::string(), std::string("hello\0world", 11), std::string(3'000'001, 'x')}) {
    ASSERT_OK(writeFileAtomically(path, contents));
    auto read = readFile(path, 10'000'000);
    ASSERT_OK(read);
    EXPECT_EQ(*read, contents);
    auto mapped = MappedFile::open(path);
    ASSERT_OK(mapped);
    EXPECT_EQ(textOf(mapped->bytes()), contents);
    EXPECT_FALSE(pathExists(path + ".partial"));
  }
  EXPECT_ERROR(readFile(path, 100), StatusCode::InvalidData, "a: expected at most 100 bytes, got 3000001");
}

TEST(File, PiecesOfAllSizesArriveInOrder) {
  TempDirectory directory;
  std::string expected;
  auto file = AtomicFile::create(directory / "a");
  ASSERT_OK(file);
  for (size_t size : {1, 0, 1000, 1 << 20, 3, (1 << 20) + 1, 5 << 20, 7, (1 << 20) - 1, 2}) {
    std::string piece(size, static_cast<char>('a' + expected.size() % 26));
    ASSERT_OK(file->append(asBytes(piece)));
    expected += piece;
  }
  EXPECT_FALSE(pathExists(directory / "a"));
  ASSERT_OK(file->commit());
  auto read = readFile(directory / "a", 1 << 30);
  ASSERT_OK(read);
  EXPECT_TRUE(*read == expected);
}

TEST(File, AnUnfinishedFileLeavesTheOldOne) {
  TempDirectory directory;
  ASSERT_OK(writeFileAtomically(directory / "a", "old"));
  {
    auto file = AtomicFile::create(directory / "a");
    ASSERT_OK(file);
    ASSERT_OK(file->append(asBytes("new")));
  }
  EXPECT_EQ(*readFile(directory / "a", 100), "old");
  EXPECT_EQ(*listDirectory(directory.path()), std::vector<std::string>{"a"});
}

TEST(File, RangesStayInTheFile) {
  TempDirectory directory;
  ASSERT_OK(writeFileAtomically(directory / "a", "0123456789"));
  auto mapped = MappedFile::open(directory / "a");
  ASSERT_OK(mapped);
  EXPECT_EQ(textOf(*mapped->range(2, 3)), "234");
  EXPECT_EQ(textOf(*mapped->range(10, 0)), "");
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  for (auto [offset, size] :
       {std::pair<int64_t, int64_t>{0, 11}, {10, 1}, {11, 0}, {-1, 1}, {1, -1}, {most, most}, {1, most}})
    EXPECT_ERROR(mapped->range(offset, size), StatusCode::InvalidData, "the file has 10");
}

TEST(File, RefusesWhatIsNoRegularFile) {
  TempDirectory directory;
  EXPECT_ERROR(readFile(directory.path(), 100), StatusCode::Io, "not a regular file");
  EXPECT_ERROR(MappedFile::open(directory / "none"), StatusCode::Io, "none: cannot open: No such file");
  // A pipe would block for ever.
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_ERROR(readFile(directory / "pipe", 100), StatusCode::Io, "pipe: not a regular file");
  EXPECT_ERROR(writeFileAtomically(directory / "no/such/place", ""), StatusCode::Io, "cannot create: No such file");
  // A link under the temporary name does not redirect the bytes.
  ASSERT_EQ(::symlink((directory / "victim").c_str(), (directory / "b.partial").c_str()), 0);
  EXPECT_ERROR(writeFileAtomically(directory / "b", "x"), StatusCode::Io, "b.partial: cannot create");
  EXPECT_FALSE(pathExists(directory / "victim"));
}

TEST(File, PlainNames) {
  for (const char *good : {"a", "model-00001-of-00002.safetensors", "...", "a b", ".hidden"})
    EXPECT_TRUE(isPlainFileName(good)) << good;
  for (std::string bad : {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("/a"),
                          std::string("../a"), std::string("a\\b"), std::string("a\0b", 3)})
    EXPECT_FALSE(isPlainFileName(bad)) << bad;
}

TEST(File, AnEmptyDirectoryThatWasMadeGoesAgain) {
  TempDirectory directory;
  ASSERT_OK(createDirectories(directory / "old/empty"));
  {
    ASSERT_OK(EmptyDirectory::create(directory / "old/empty").status());
    StatusOr<EmptyDirectory> made = EmptyDirectory::create(directory / "old/a/b/");
    ASSERT_OK(made.status());
    EmptyDirectory moved = *std::move(made);
    EXPECT_TRUE(isDirectory(directory / "old/a/b"));
  }
  EXPECT_TRUE(isDirectory(directory / "old/empty"));
  EXPECT_FALSE(pathExists(directory / "old/a"));
  {
    StatusOr<EmptyDirectory> made = EmptyDirectory::create(directory / "old/a/b");
    ASSERT_OK(made.status());
    ASSERT_OK(writeFileAtomically(directory / "old/a/file", "x"));
  }
  EXPECT_EQ(*listDirectory(directory / "old/a"), std::vector<std::string>{"file"});
  EXPECT_ERROR(EmptyDirectory::create(directory / "old/a").status(), StatusCode::InvalidUsage, "it holds 'file'");
  EXPECT_ERROR(EmptyDirectory::create(directory / "old/a/file/b").status(), StatusCode::Io, "cannot create");
  std::string tooLong(300, 'x');
  EXPECT_ERROR(EmptyDirectory::create((directory / "new/") + tooLong).status(), StatusCode::Io, "cannot create");
  EXPECT_FALSE(pathExists(directory / "new"));
}

TEST(File, Directories) {
  TempDirectory directory;
  ASSERT_OK(createDirectories(directory / "a/b/c"));
  ASSERT_OK(createDirectories(directory / "a/b/c/"));
  EXPECT_TRUE(isDirectory(directory / "a/b/c"));
  ASSERT_OK(createEmptyDirectory(directory / "a/b/c"));
  ASSERT_OK(createEmptyDirectory(directory / "new/one"));
  EXPECT_ERROR(createEmptyDirectory(directory / "a"), StatusCode::InvalidUsage,
               "a: expected a new or empty directory, but it holds 'b'");
  ASSERT_OK(writeFileAtomically(directory / "file", "x"));
  EXPECT_ERROR(createEmptyDirectory(directory / "file"), StatusCode::InvalidUsage, "is not a directory");
  EXPECT_ERROR(createDirectories(directory / "file/x"), StatusCode::Io, "cannot create this directory");
  EXPECT_EQ(*listDirectory(directory.path()), (std::vector<std::string>{"a", "file", "new"}));
  ASSERT_OK(copyFile(directory / "file", directory / "copy"));
  EXPECT_EQ(*readFile(directory / "copy", 10), "x");
  EXPECT_EQ(joinPath("a", "b"), "a/b");
  EXPECT_EQ(joinPath("a/", "b"), "a/b");
  EXPECT_EQ(joinPath("", "b"), "b");
}

TEST(File, RemovesOnlyFlatDirectories) {
  TempDirectory directory;
  ASSERT_OK(removeFlatDirectory(directory / "missing"));
  ASSERT_OK(createDirectories(directory / "deep/inner"));
  EXPECT_ERROR(removeFlatDirectory(directory / "deep"), StatusCode::Io, "inner: cannot remove");
  ASSERT_OK(createDirectories(directory / "flat"));
  ASSERT_OK(writeFileAtomically(directory / "flat/a", "x"));
  ASSERT_OK(removeFlatDirectory(directory / "flat"));
  EXPECT_FALSE(pathExists(directory / "flat"));
}

TEST(AtomicDirectory, AppearsWholeOrNotAtAll) {
  TempDirectory directory;
  std::string a = directory / "a", b = directory / "b", c = directory / "c";
  ASSERT_OK(createDirectories(a));
  // What a dead process left.
  ASSERT_OK(createDirectories(a + ".partial"));
  ASSERT_OK(writeFileAtomically(a + ".partial/y", "old"));
  auto first = AtomicDirectory::create(a + "/");
  ASSERT_OK(first);
  EXPECT_EQ(first->partialPath(), a + ".partial");
  ASSERT_OK(writeFileAtomically(joinPath(first->partialPath(), "x"), "new"));
  EXPECT_TRUE(listDirectory(a)->empty());
  ASSERT_OK(first->commit());
  EXPECT_EQ(*listDirectory(a), std::vector<std::string>{"x"});
  EXPECT_EQ(*readFile(a + "/x", 10), "new");
  EXPECT_FALSE(pathExists(a + ".partial"));
  EXPECT_ERROR(AtomicDirectory::create(a), StatusCode::InvalidUsage, "expected a new or empty directory");

  auto second = AtomicDirectory::create(b);
  ASSERT_OK(second);
  ASSERT_OK(createDirectories(b));
  ASSERT_OK(writeFileAtomically(b + "/x", "meanwhile"));
  EXPECT_ERROR(second->commit(), StatusCode::Io, "b: cannot rename");
  EXPECT_EQ(*readFile(b + "/x", 10), "meanwhile");

  {
    auto third = AtomicDirectory::create(c);
    ASSERT_OK(third);
    ASSERT_OK(writeFileAtomically(joinPath(third->partialPath(), "x"), "unfinished"));
  }
  EXPECT_FALSE(pathExists(c));
  EXPECT_FALSE(pathExists(c + ".partial"));
}
