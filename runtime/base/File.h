// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files and directories: whole reads, read-only maps, and writes that are either complete or not there.
// Every error names the path and what the system said.
#ifndef RUNTIME_BASE_FILE_H
#define RUNTIME_BASE_FILE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qrt {

/// The bytes of a text.
inline std::span<const uint8_t> asBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// The bytes of a sequence of numbers, in the machine's order (little-endian, which the file formats demand, is the
/// only order of the machines supported).
template <typename T> std::span<const uint8_t> asBytes(std::span<const T> values) {
  return {reinterpret_cast<const uint8_t *>(values.data()), values.size_bytes()};
}

/// `directory`/`name`.
std::string joinPath(std::string_view directory, std::string_view name);

/// Whether `name` names an entry of a directory and nothing else: not empty, "." or "..", without a separator or NUL.
/// A name from a file must pass before it is joined to a path.
bool isPlainFileName(std::string_view name);

/// Whether anything is there; a link that leads nowhere is not. False too where the system does not let us look.
bool pathExists(const std::string &path);
/// Whether a directory is there, or a link to one; false too where the system does not let us look.
bool isDirectory(const std::string &path);

/// Whether something that is no directory can be opened for reading there; Io with the system's reason otherwise.
Status checkReadable(const std::string &path);

/// Creates a directory and its parents; one that exists is fine. Io if one cannot be made.
Status createDirectories(const std::string &path);

/// Creates `path` if it is missing; InvalidUsage if it exists and holds anything, or is no directory.
Status createEmptyDirectory(const std::string &path);

/// A directory that was empty at first. Where it did not exist it is created, with its parents; what of that is empty
/// when the object goes is removed again.
class EmptyDirectory {
public:
  /// Fails as createEmptyDirectory does.
  static StatusOr<EmptyDirectory> create(const std::string &path);

  EmptyDirectory(EmptyDirectory &&) = default;
  EmptyDirectory &operator=(EmptyDirectory &&) = delete;
  ~EmptyDirectory();

private:
  EmptyDirectory() = default;

  std::vector<std::string> made_; // each within the next
};

/// Removes a directory and the files in it; one that is missing is fine. Refuses (Io) one that holds a directory.
Status removeFlatDirectory(const std::string &path);

/// The names in a directory, sorted, without "." and "..". Io if it cannot be read.
StatusOr<std::vector<std::string>> listDirectory(const std::string &path);

/// Copies a regular file; the copy appears complete or not at all. Io if one of the two cannot be read or written.
Status copyFile(const std::string &from, const std::string &to);

/// The whole of a regular file. InvalidData if it has more than `maxBytes`, Io if it cannot be read, is no regular file
/// or becomes shorter meanwhile.
StatusOr<std::string> readFile(const std::string &path, int64_t maxBytes);

/// A regular file, mapped read-only for as long as the object lives. The file must not be shortened meanwhile.
class MappedFile {
public:
  /// Io if it cannot be opened or mapped, or is no regular file. An empty file is fine.
  static StatusOr<MappedFile> open(const std::string &path);

  MappedFile(MappedFile &&other) noexcept { swap(other); }
  MappedFile &operator=(MappedFile &&other) noexcept {
    swap(other);
    return *this;
  }
  ~MappedFile();

  const std::string &path() const { return path_; }
  std::span<const uint8_t> bytes() const { return {data_, size_}; }

  /// `size` bytes from `offset`; InvalidData if they do not lie in the file.
  StatusOr<std::span<const uint8_t>> range(int64_t offset, int64_t size) const;

private:
  MappedFile() = default;
  void swap(MappedFile &other) noexcept {
    std::swap(path_, other.path_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  std::string path_;
  const uint8_t *data_ = nullptr;
  size_t size_ = 0;
};

/// A new file that appears under its name only when it is complete: the bytes go to "PATH.partial", which `commit`
/// flushes to the disk and renames. Whatever was at the path before stays readable until then, also if the process
/// dies. A partial file that a dead process left is overwritten. One writer a path at a time.
class AtomicFile {
public:
  /// Creates "PATH.partial"; Io if that fails, also where a link has this name.
  static StatusOr<AtomicFile> create(const std::string &path);

  AtomicFile(AtomicFile &&other) noexcept { swap(other); }
  AtomicFile &operator=(AtomicFile &&other) noexcept {
    swap(other);
    return *this;
  }
  /// Removes the partial file if there was no commit.
  ~AtomicFile();

  const std::string &path() const { return path_; }

  /// Adds bytes at the end, through a buffer. Io if they cannot be written: then the file must not be committed. Not
  /// after a commit.
  Status append(std::span<const uint8_t> bytes);
  /// Writes what is buffered, flushes to the disk and renames; once. Io if a step of it fails: up to the renaming the
  /// path is as it was before.
  Status commit();

private:
  AtomicFile() = default;
  Status flush();
  void swap(AtomicFile &other) noexcept {
    std::swap(path_, other.path_);
    std::swap(buffer_, other.buffer_);
    std::swap(descriptor_, other.descriptor_);
  }

  std::string path_;
  std::vector<uint8_t> buffer_;
  int descriptor_ = -1;
};

/// Writes a whole file through AtomicFile; Io as there.
Status writeFileAtomically(const std::string &path, std::string_view contents);

/// A new directory of files that appears under its name only when it is complete: until then it is "PATH.partial",
/// which `commit` renames in one step that survives a crash. What a dead process left of one is removed. The files in
/// it must be flushed when they are written (AtomicFile). One writer a path at a time.
class AtomicDirectory {
public:
  /// InvalidUsage if there is anything at the path but an empty directory; Io if the partial directory cannot be made,
  /// or what is there under its name cannot be removed (removeFlatDirectory).
  static StatusOr<AtomicDirectory> create(const std::string &path);

  AtomicDirectory(AtomicDirectory &&other) noexcept { swap(other); }
  AtomicDirectory &operator=(AtomicDirectory &&other) noexcept {
    swap(other);
    return *this;
  }
  /// Removes the partial directory if there was no commit.
  ~AtomicDirectory();

  const std::string &path() const { return path_; }
  /// Where the files are until the commit.
  const std::string &partialPath() const { return partial_; }

  /// Renames; once. Io if a step fails: up to the renaming there is nothing at the path.
  Status commit();

private:
  AtomicDirectory() = default;
  void swap(AtomicDirectory &other) noexcept {
    std::swap(path_, other.path_);
    std::swap(partial_, other.partial_);
  }

  std::string path_;
  std::string partial_; // empty: committed, or moved from
};

} // namespace qrt

#endif // RUNTIME_BASE_FILE_H
