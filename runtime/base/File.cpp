// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/File.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qrt {

static_assert(std::endian::native == std::endian::little, "the file formats are little-endian and are read in place");

namespace {

Status systemError(const std::string &path, std::string_view action) {
  int code = errno;
  return error(StatusCode::Io, "{}: cannot {}: {}", path, action, std::strerror(code));
}

/// A descriptor that closes itself.
struct Descriptor {
  int value = -1;
  ~Descriptor() {
    if (value >= 0)
      ::close(value);
  }
};

struct OpenFile {
  int descriptor;
  int64_t size;
};

/// Opens a regular file for reading. O_NONBLOCK, so that a named pipe is refused and not waited for.
StatusOr<OpenFile> openRegular(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return systemError(path, "open");
  struct stat info;
  if (::fstat(descriptor, &info) != 0) {
    Status failure = systemError(path, "read its size");
    ::close(descriptor);
    return failure;
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return error(StatusCode::Io, "{}: not a regular file", path);
  }
  return OpenFile{descriptor, static_cast<int64_t>(info.st_size)};
}

std::string parentOf(const std::string &path) {
  std::string_view text = path;
  while (text.size() > 1 && text.back() == '/')
    text.remove_suffix(1);
  size_t slash = text.rfind('/');
  if (slash == std::string_view::npos)
    return ".";
  return slash == 0 ? "/" : std::string(text.substr(0, slash));
}

/// Makes renames in a directory durable.
Status syncDirectory(const std::string &path) {
  Descriptor directory{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (directory.value < 0)
    return systemError(path, "open");
  // Some file systems cannot flush a directory and say so: there is nothing more to do then.
  if (::fsync(directory.value) != 0 && errno != EINVAL && errno != ENOTSUP)
    return systemError(path, "flush");
  return Status();
}

std::string partialName(const std::string &path) { return path + ".partial"; }

} // namespace

std::string joinPath(std::string_view directory, std::string_view name) {
  if (directory.empty() || directory.back() == '/')
    return fmt::format("{}{}", directory, name);
  return fmt::format("{}/{}", directory, name);
}

bool isPlainFileName(std::string_view name) {
  using namespace std::string_view_literals;
  return !name.empty() && name != "." && name != ".." && name.find_first_of("/\\\0"sv) == std::string_view::npos;
}

bool pathExists(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

bool isDirectory(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Status checkReadable(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return systemError(path, "open");
  ::close(descriptor);
  return isDirectory(path) ? error(StatusCode::Io, "{}: is a directory", path) : Status();
}

Status createDirectories(const std::string &path) {
  if (isDirectory(path))
    return Status();
  std::string parent = parentOf(path);
  if (parent != path)
    QRT_RETURN_IF_ERROR(createDirectories(parent));
  if (::mkdir(path.c_str(), 0777) != 0 && (errno != EEXIST || !isDirectory(path)))
    return systemError(path, "create this directory");
  return Status();
}

Status createEmptyDirectory(const std::string &path) {
  if (!pathExists(path))
    return createDirectories(path);
  if (!isDirectory(path))
    return error(StatusCode::InvalidUsage, "{}: exists and is not a directory", path);
  QRT_ASSIGN_OR_RETURN(std::vector<std::string> names, listDirectory(path));
  if (!names.empty())
    return error(StatusCode::InvalidUsage, "{}: expected a new or empty directory, but it holds '{}'", path, names[0]);
  return Status();
}

StatusOr<EmptyDirectory> EmptyDirectory::create(const std::string &path) {
  EmptyDirectory directory;
  for (std::string missing = path; !pathExists(missing) && missing != parentOf(missing); missing = parentOf(missing))
    directory.made_.push_back(missing);
  QRT_RETURN_IF_ERROR(createEmptyDirectory(path));
  return directory;
}

EmptyDirectory::~EmptyDirectory() {
  for (const std::string &path : made_)
    (void)::rmdir(path.c_str()); // fails where it holds something
}

Status removeFlatDirectory(const std::string &path) {
  if (!pathExists(path))
    return Status();
  QRT_ASSIGN_OR_RETURN(std::vector<std::string> names, listDirectory(path));
  for (const std::string &name : names)
    if (std::string entry = joinPath(path, name); ::unlink(entry.c_str()) != 0)
      return systemError(entry, "remove");
  if (::rmdir(path.c_str()) != 0)
    return systemError(path, "remove");
  return Status();
}

StatusOr<std::vector<std::string>> listDirectory(const std::string &path) {
  DIR *directory = ::opendir(path.c_str());
  if (!directory)
    return systemError(path, "list");
  std::vector<std::string> names;
  errno = 0;
  while (struct dirent *entry = ::readdir(directory)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..")
      names.push_back(std::move(name));
  }
  Status result = errno != 0 ? systemError(path, "list") : Status();
  ::closedir(directory);
  QRT_RETURN_IF_ERROR(std::move(result));
  std::sort(names.begin(), names.end());
  return names;
}

Status copyFile(const std::string &from, const std::string &to) {
  QRT_ASSIGN_OR_RETURN(MappedFile source, MappedFile::open(from));
  QRT_ASSIGN_OR_RETURN(AtomicFile target, AtomicFile::create(to));
  QRT_RETURN_IF_ERROR(target.append(source.bytes()));
  return target.commit();
}

StatusOr<std::string> readFile(const std::string &path, int64_t maxBytes) {
  QRT_ASSIGN_OR_RETURN(OpenFile file, openRegular(path));
  Descriptor owner{file.descriptor};
  if (file.size > maxBytes)
    return error(StatusCode::InvalidData, "{}: expected at most {} bytes, got {}", path, maxBytes, file.size);
  std::string contents(static_cast<size_t>(file.size), '\0');
  for (size_t done = 0; done < contents.size();) {
    ssize_t got = ::read(file.descriptor, contents.data() + done, contents.size() - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return systemError(path, "read");
    if (got == 0)
      return error(StatusCode::Io, "{}: became shorter while it was read: {} of {} bytes", path, done, file.size);
    done += static_cast<size_t>(got);
  }
  return contents;
}

StatusOr<MappedFile> MappedFile::open(const std::string &path) {
  QRT_ASSIGN_OR_RETURN(OpenFile file, openRegular(path));
  Descriptor owner{file.descriptor};
  MappedFile mapped;
  mapped.path_ = path;
  if (file.size == 0) // an empty map is an error of mmap
    return mapped;
  if (static_cast<uint64_t>(file.size) > std::numeric_limits<size_t>::max())
    return error(StatusCode::Unsupported, "{}: {} bytes do not fit the address space", path, file.size);
  void *data = ::mmap(nullptr, static_cast<size_t>(file.size), PROT_READ, MAP_PRIVATE, file.descriptor, 0);
  if (data == MAP_FAILED)
    return systemError(path, "map");
  mapped.data_ = static_cast<const uint8_t *>(data);
  mapped.size_ = static_cast<size_t>(file.size);
  return mapped;
}

MappedFile::~MappedFile() {
  if (data_)
    ::munmap(const_cast<uint8_t *>(data_), size_);
}

StatusOr<std::span<const uint8_t>> MappedFile::range(int64_t offset, int64_t size) const {
  int64_t total = static_cast<int64_t>(size_);
  if (offset < 0 || size < 0 || offset > total || size > total - offset)
    return error(StatusCode::InvalidData, "{}: expected {} bytes at offset {}, but the file has {}", path_, size,
                 offset, total);
  return bytes().subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
}

StatusOr<AtomicFile> AtomicFile::create(const std::string &path) {
  std::string partial = partialName(path);
  // O_NOFOLLOW: a link under the partial name must not redirect the bytes.
  int descriptor = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0)
    return systemError(partial, "create");
  AtomicFile file;
  file.path_ = path;
  file.descriptor_ = descriptor;
  return file;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0)
    return;
  ::close(descriptor_);
  ::unlink(partialName(path_).c_str());
}

static Status writeAll(int descriptor, std::span<const uint8_t> bytes, const std::string &path) {
  while (!bytes.empty()) {
    // Linux writes at most about 2 GiB a call.
    ssize_t done = ::write(descriptor, bytes.data(), std::min(bytes.size(), size_t{1} << 30));
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return systemError(path, "write");
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return Status();
}

Status AtomicFile::flush() {
  Status result = writeAll(descriptor_, buffer_, partialName(path_));
  buffer_.clear();
  return result;
}

Status AtomicFile::append(std::span<const uint8_t> bytes) {
  assert(descriptor_ >= 0 && "append after commit");
  constexpr size_t kBufferBytes = size_t{1} << 20;
  if (buffer_.size() + bytes.size() <= kBufferBytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return Status();
  }
  QRT_RETURN_IF_ERROR(flush());
  if (bytes.size() < kBufferBytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return Status();
  }
  return writeAll(descriptor_, bytes, partialName(path_));
}

Status AtomicFile::commit() {
  assert(descriptor_ >= 0 && "second commit");
  std::string partial = partialName(path_);
  QRT_RETURN_IF_ERROR(flush());
  if (::fsync(descriptor_) != 0)
    return systemError(partial, "flush");
  if (::rename(partial.c_str(), path_.c_str()) != 0)
    return systemError(path_, "rename the finished file to this name");
  ::close(descriptor_);
  descriptor_ = -1;
  return syncDirectory(parentOf(path_));
}

Status writeFileAtomically(const std::string &path, std::string_view contents) {
  QRT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  QRT_RETURN_IF_ERROR(file.append(asBytes(contents)));
  return file.commit();
}

StatusOr<AtomicDirectory> AtomicDirectory::create(const std::string &path) {
  AtomicDirectory directory;
  directory.path_ = path;
  while (directory.path_.size() > 1 && directory.path_.back() == '/')
    directory.path_.pop_back();
  if (pathExists(directory.path_))
    QRT_RETURN_IF_ERROR(createEmptyDirectory(directory.path_));
  std::string partial = partialName(directory.path_);
  QRT_RETURN_IF_ERROR(removeFlatDirectory(partial));
  QRT_RETURN_IF_ERROR(createDirectories(partial));
  directory.partial_ = partial;
  return directory;
}

AtomicDirectory::~AtomicDirectory() {
  if (!partial_.empty())
    (void)removeFlatDirectory(partial_);
}

Status AtomicDirectory::commit() {
  assert(!partial_.empty() && "second commit");
  QRT_RETURN_IF_ERROR(syncDirectory(partial_));
  // rename replaces an empty directory and refuses one that holds something.
  if (::rename(partial_.c_str(), path_.c_str()) != 0)
    return systemError(path_, "rename the finished directory to this name");
  partial_.clear();
  return syncDirectory(parentOf(path_));
}

} // namespace qrt
