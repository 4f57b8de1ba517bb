// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/GemmTuner.h"

#include "runtime/backends/cuda/RandomFill.h"
#include "runtime/base/File.h"
#include "runtime/base/Json.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace qrt::cuda {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{16} << 20;

/// The algorithm as 8 numbers of 16 hexadecimal digits.
std::string print(const LtAlgorithm &algorithm) {
  std::string text;
  for (uint64_t word : algorithm.data)
    text += fmt::format("{:016x}", word);
  return text;
}

bool parse(std::string_view text, LtAlgorithm &algorithm) {
  if (text.size() != 128 || text.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return false;
  for (size_t i = 0; i < 8; ++i)
    algorithm.data[i] = std::strtoull(std::string(text.substr(16 * i, 16)).c_str(), nullptr, 16);
  return true;
}

bool operator==(const LtAlgorithm &a, const LtAlgorithm &b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

} // namespace

GemmTuner::GemmTuner(const Gpu &gpu, std::string folder) : gpu_(gpu) {
  if (folder.empty())
    return;
  std::string name = fmt::format("gemm-{}-{}.json", gpu.name(), gpu.cublasLt().version());
  std::replace(name.begin(), name.end(), ' ', '-');
  std::replace(name.begin(), name.end(), '/', '-');
  path_ = joinPath(folder, name);
  load();
}

void GemmTuner::load() {
  if (!pathExists(path_))
    return;
  StatusOr<std::string> text = readFile(path_, kMaxFileBytes);
  if (!text.ok())
    return;
  nlohmann::json file = nlohmann::json::parse(*text, nullptr, false);
  if (!file.is_object())
    return;
  for (auto &[name, value] : file.items()) {
    LtAlgorithm algorithm;
    if (value.is_string() && parse(value.get_ref<const std::string &>(), algorithm))
      choices_[name] = algorithm;
  }
}

void GemmTuner::save() {
  if (path_.empty() || timed_ == 0)
    return;
  nlohmann::json file = nlohmann::json::object();
  for (auto &[name, algorithm] : choices_)
    file[name] = print(algorithm);
  std::string folder = path_.substr(0, path_.rfind('/'));
  if (createDirectories(folder).ok())
    (void)writeFileAtomically(path_, file.dump(1) + "\n").ok();
}

Status GemmTuner::choose(PreparedGemm &gemm, DevicePtr scratch, int64_t scratchBytes) {
  std::string name = gemm.name();
  auto candidateOf = [&](const LtAlgorithm &algorithm) {
    const std::vector<LtHeuristicResult> &candidates = gemm.candidates();
    return static_cast<size_t>(std::find_if(candidates.begin(), candidates.end(),
                                            [&](const LtHeuristicResult &c) { return c.algorithm == algorithm; }) -
                               candidates.begin());
  };
  if (auto known = choices_.find(name); known != choices_.end()) {
    // A choice that the library no longer offers is made again.
    if (size_t candidate = candidateOf(known->second); candidate < gemm.candidates().size()) {
      gemm.choose(candidate);
      return Status();
    }
  }
  if (gemm.candidates().size() == 1 ||
      gemmExtent(gemm.gemm().a) + gemmExtent(gemm.gemm().b) + gemmExtent(gemm.gemm().c) > scratchBytes)
    return Status();
  size_t best = 0;
  QRT_RETURN_IF_ERROR(time(gemm, scratch, scratchBytes, best));
  gemm.choose(best);
  choices_[name] = gemm.candidates()[best].algorithm;
  ++timed_;
  return Status();
}

Status GemmTuner::time(PreparedGemm &gemm, DevicePtr scratch, int64_t scratchBytes, size_t &best) {
  const Driver &driver = gpu_.driver();
  auto aligned = [](int64_t bytes) { return static_cast<DevicePtr>(bytes / 256 * 256); };
  DevicePtr a = scratch, b = a + aligned(gemmExtent(gemm.gemm().a)), c = b + aligned(gemmExtent(gemm.gemm().b));
  int64_t bytes = std::min(scratchBytes, static_cast<int64_t>(c - scratch) + gemmExtent(gemm.gemm().c));
  if (filled_ != scratch || filledBytes_ < bytes) {
    QRT_RETURN_IF_ERROR(fillWithRandom(gpu_, scratch, bytes));
    filled_ = scratch;
    filledBytes_ = bytes;
  }
  CUevent begin = nullptr, end = nullptr;
  QRT_CUDA_CHECK(driver, cuEventCreate(&begin, 0));
  QRT_CUDA_CHECK(driver, cuEventCreate(&end, 0));
  auto measure = [&](int runs, float &milliseconds) -> Status {
    QRT_CUDA_CHECK(driver, cuEventRecord(begin, gpu_.stream()));
    for (int i = 0; i < runs; ++i)
      QRT_RETURN_IF_ERROR(gemm.launch(gpu_.stream(), gpu_.gemmWorkspace(), a, b, c));
    QRT_CUDA_CHECK(driver, cuEventRecord(end, gpu_.stream()));
    QRT_RETURN_IF_ERROR(gpu_.synchronize());
    QRT_CUDA_CHECK(driver, cuEventElapsedTime(&milliseconds, begin, end));
    milliseconds /= static_cast<float>(runs);
    return Status();
  };
  float fastest = 0;
  Status status;
  for (size_t i = 0; i < gemm.candidates().size() && status.ok(); ++i) {
    gemm.choose(i);
    float once = 0, mean = 0;
    // The first run loads the algorithm's code.
    status = measure(1, once);
    if (status.ok())
      status = measure(1, once);
    // Candidates far behind need no second look.
    if (!status.ok() || (i > 0 && once > 1.3f * fastest))
      continue;
    int runs = std::clamp(static_cast<int>(4.0f / std::max(once, 0.01f)), 1, 20);
    status = measure(runs, mean);
    if (status.ok() && (i == 0 || mean < fastest)) {
      fastest = mean;
      best = i;
    }
  }
  driver->cuEventDestroy(begin);
  driver->cuEventDestroy(end);
  return status;
}

} // namespace qrt::cuda
