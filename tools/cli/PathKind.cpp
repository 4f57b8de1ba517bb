// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/cli/PathKind.h"

#include "runtime/base/File.h"
#include "runtime/data/Manifest.h"
#include "runtime/schema/step_program_generated.h"

#include <array>
#include <fstream>

namespace qrt {

static PathKind folderKind(const std::string &path) {
  auto has = [&](std::string_view name) { return pathExists(joinPath(path, name)); };
  if (has("manifest.json"))
    if (StatusOr<Manifest> manifest = readManifest(path); manifest.ok())
      return manifest->kind == DataKind::Packed ? PathKind::Packed : PathKind::Tokens;
  if (has("config.json"))
    return PathKind::HuggingFace;
  return has("metrics.jsonl") ? PathKind::Run : PathKind::Folder;
}

static PathKind fileKind(const std::string &path) {
  std::array<char, 16> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  std::string_view bytes(begin.data(), begin.size());
  if (fb::ProgramBufferHasIdentifier(begin.data()))
    return PathKind::Program;
  if (bytes.starts_with("ML\xefR") || path.ends_with(".mlir"))
    return PathKind::Module;
  // A header of JSON follows its length in 8 bytes.
  if (path.ends_with(".safetensors") || (bytes[7] == '\0' && bytes.substr(8, 2) == "{\""))
    return PathKind::Safetensors;
  if (path.ends_with(".jsonl"))
    return PathKind::JsonLines;
  size_t first = bytes.find_first_not_of(" \t\r\n");
  return path.ends_with(".json") || (first != bytes.npos && bytes[first] == '{') ? PathKind::Json : PathKind::File;
}

PathKind pathKind(const std::string &path) {
  if (!pathExists(path))
    return PathKind::Missing;
  return isDirectory(path) ? folderKind(path) : fileKind(path);
}

std::string_view describe(PathKind kind) {
  switch (kind) {
  case PathKind::Missing:
    return "nothing";
  case PathKind::Folder:
    return "a folder";
  case PathKind::HuggingFace:
    return "a Hugging Face folder";
  case PathKind::Tokens:
    return "a folder of token data";
  case PathKind::Packed:
    return "a folder of packed data";
  case PathKind::Run:
    return "the folder of a run";
  case PathKind::File:
    return "a file of another kind";
  case PathKind::Module:
    return "a module";
  case PathKind::Program:
    return "a compiled program";
  case PathKind::Safetensors:
    return "a safetensors file";
  case PathKind::Json:
    return "a JSON file";
  case PathKind::JsonLines:
    return "a file of JSON lines";
  }
  return "";
}

Status checkPacked(std::string_view option, const std::string &path) {
  PathKind kind = pathKind(path);
  if (kind == PathKind::Missing)
    return checkReadable(path).withContext(std::string(option));
  // What is wrong with a manifest is said by its reader.
  bool isDamaged = kind != PathKind::Tokens && pathExists(joinPath(path, "manifest.json"));
  if (kind == PathKind::Packed || isDamaged)
    return Status();
  return error(StatusCode::InvalidUsage, "{}: {}; `qrun pack {} --out packed/` makes one", option,
               expectedPath(path, "a folder of packed data"), kind == PathKind::Tokens ? path : "tokens/");
}

std::string expectedPath(const std::string &path, std::string_view expected) {
  return path + ": expected " + std::string(expected) + ", got " + std::string(describe(pathKind(path)));
}

} // namespace qrt
