// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/nvrtc/CubinCache.h"

#include "runtime/base/File.h"
#include "runtime/base/Sha256.h"

#include <cstring>

namespace qrt {
namespace {

/// An entry: the digest of its key and of what follows; NVRTC's version, symbol, log, image, each after its length.
constexpr size_t kDigestChars = 64;
constexpr int64_t kMaxEntryBytes = int64_t{1} << 28;

void appendBytes(std::string &to, std::span<const uint8_t> bytes) {
  uint64_t size = bytes.size();
  to.append(reinterpret_cast<const char *>(&size), sizeof(size));
  to.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

StatusOr<std::string> encode(const Cubin &cubin, const std::string &version, const std::string &key) {
  std::string body;
  appendBytes(body, asBytes(version));
  appendBytes(body, asBytes(cubin.symbol));
  appendBytes(body, asBytes(cubin.log));
  appendBytes(body, cubin.image);
  QRT_ASSIGN_OR_RETURN(std::string digest, sha256(asBytes(key + body)));
  return digest + body;
}

/// Whether `entry` is whole and that of the key.
bool decode(std::string_view entry, const std::string &key, Cubin &cubin, std::string &version) {
  if (entry.size() < kDigestChars)
    return false;
  std::string_view body = entry.substr(kDigestChars);
  StatusOr<std::string> digest = sha256(asBytes(key + std::string(body)));
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
  std::string_view compiler, symbol, log, image;
  if (!take(compiler) || !take(symbol) || !take(log) || !take(image))
    return false;
  version = compiler;
  cubin.symbol = symbol;
  cubin.log = log;
  cubin.image.assign(asBytes(image).begin(), asBytes(image).end());
  return true;
}

/// Marks the files that `text` includes, and those that they include.
void markIncluded(std::span<const SourceFile> files, std::string_view text, std::vector<bool> &included) {
  constexpr std::string_view kInclude = "#include \"";
  for (size_t at = text.find(kInclude); at != std::string_view::npos; at = text.find(kInclude, at)) {
    at += kInclude.size();
    std::string_view name = text.substr(at, text.find('"', at) - at);
    for (size_t i = 0; i < files.size(); ++i)
      if (files[i].name == name && !included[i]) {
        included[i] = true;
        markIncluded(files, files[i].text, included);
      }
  }
}

StatusOr<std::string> keyOf(std::span<const SourceFile> files, const std::string &main, const std::string &expression,
                            std::string_view architecture) {
  std::string text;
  auto add = [&](std::string_view part) { appendBytes(text, asBytes(part)); };
  std::vector<bool> included(files.size());
  markIncluded(files, main, included);
  for (size_t i = 0; i < files.size(); ++i)
    if (included[i]) {
      add(files[i].name);
      add(files[i].text);
    }
  add(main);
  add(expression);
  for (const std::string &option : nvrtcOptions(architecture))
    add(option);
  return sha256(asBytes(text));
}

} // namespace

StatusOr<Cubin> CubinCache::compile(std::span<const SourceFile> files, const std::string &main,
                                    const std::string &expression, std::string_view architecture) {
  StatusOr<const Nvrtc *> nvrtc = Nvrtc::open();
  std::string path, key;
  if (!folder_.empty()) {
    QRT_ASSIGN_OR_RETURN(key, keyOf(files, main, expression, architecture));
    path = joinPath(folder_, key + ".cubin");
    Cubin cubin;
    std::string version;
    if (StatusOr<std::string> entry =
            pathExists(path) ? readFile(path, kMaxEntryBytes) : error(StatusCode::Io, "{}: not there", path);
        entry.ok() && decode(*entry, key, cubin, version) && (!nvrtc.ok() || (*nvrtc)->version() == version)) {
      ++found_;
      return cubin;
    }
  }
  QRT_RETURN_IF_ERROR(nvrtc.status());
  QRT_ASSIGN_OR_RETURN(Cubin cubin, (*nvrtc)->compile(files, main, expression, architecture));
  ++compiled_;
  if (!path.empty()) {
    QRT_ASSIGN_OR_RETURN(std::string entry, encode(cubin, (*nvrtc)->version(), key));
    // The cache only saves time: a folder that is full or read-only must not fail a build.
    if (createDirectories(folder_).ok())
      (void)writeFileAtomically(path, entry).ok();
  }
  return cubin;
}

} // namespace qrt
