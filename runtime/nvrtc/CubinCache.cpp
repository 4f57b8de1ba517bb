// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/nvrtc/CubinCache.h"

#include "runtime/base/File.h"
#include "runtime/base/Sha256.h"

#include <cstring>

namespace qrt {
namespace {

/// An entry: the digest of what follows; three lengths; symbol, log, image.
constexpr size_t kDigestChars = 64;
constexpr int64_t kMaxEntryBytes = int64_t{1} << 28;

void appendBytes(std::string &to, std::span<const uint8_t> bytes) {
  uint64_t size = bytes.size();
  to.append(reinterpret_cast<const char *>(&size), sizeof(size));
  to.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

StatusOr<std::string> encode(const Cubin &cubin) {
  std::string body;
  appendBytes(body, asBytes(cubin.symbol));
  appendBytes(body, asBytes(cubin.log));
  appendBytes(body, cubin.image);
  QRT_ASSIGN_OR_RETURN(std::string digest, sha256(asBytes(body)));
  return digest + body;
}

/// Whether `entry` is whole.
bool decode(std::string_view entry, Cubin &cubin) {
  if (entry.size() < kDigestChars)
    return false;
  std::string_view body = entry.substr(kDigestChars);
  StatusOr<std::string> digest = sha256(asBytes(body));
  if (!digest.ok() || *digest != entry.substr(0, kDigestChars))
    return false;
  auto take = [&](std::string_view &part) {
    uint64_t size = 0;
    if (body.size() < sizeof(size))
      return false;
    std::memcpy(&size, body.data(), sizeof(size));
    body.remove_prefix(sizeof(size));
    if (size > body.size())
      return false;
    part = body.substr(0, size);
    body.remove_prefix(size);
    return true;
  };
  std::string_view symbol, log, image;
  if (!take(symbol) || !take(log) || !take(image))
    return false;
  cubin.symbol = symbol;
  cubin.log = log;
  cubin.image.assign(asBytes(image).begin(), asBytes(image).end());
  return true;
}

StatusOr<std::string> keyOf(std::span<const SourceFile> files, const std::string &main, const std::string &expression,
                            std::string_view architecture, const std::string &version) {
  std::string text;
  auto add = [&](std::string_view part) { appendBytes(text, asBytes(part)); };
  for (const SourceFile &file : files) {
    add(file.name);
    add(file.text);
  }
  add(main);
  add(expression);
  for (const std::string &option : nvrtcOptions(architecture))
    add(option);
  add(version);
  return sha256(asBytes(text));
}

} // namespace

StatusOr<Cubin> CubinCache::compile(std::span<const SourceFile> files, const std::string &main,
                                    const std::string &expression, std::string_view architecture) {
  QRT_ASSIGN_OR_RETURN(const Nvrtc *nvrtc, Nvrtc::open());
  std::string path;
  if (!folder_.empty()) {
    QRT_ASSIGN_OR_RETURN(std::string key, keyOf(files, main, expression, architecture, nvrtc->version()));
    path = joinPath(folder_, key + ".cubin");
    Cubin cubin;
    if (StatusOr<std::string> entry =
            pathExists(path) ? readFile(path, kMaxEntryBytes) : error(StatusCode::Io, "{}: not there", path);
        entry.ok() && decode(*entry, cubin)) {
      ++found_;
      return cubin;
    }
  }
  QRT_ASSIGN_OR_RETURN(Cubin cubin, nvrtc->compile(files, main, expression, architecture));
  ++compiled_;
  if (!path.empty()) {
    QRT_ASSIGN_OR_RETURN(std::string entry, encode(cubin));
    // The cache only saves time: a folder that is full or read-only must not fail a build.
    if (createDirectories(folder_).ok())
      (void)writeFileAtomically(path, entry).ok();
  }
  return cubin;
}

} // namespace qrt
