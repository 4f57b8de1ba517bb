// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/cpu/KernelHarness.h"

#include "runtime/backends/cpu/Processor.h"

#include <algorithm>

namespace qrt::cpu::test {

void KernelCall::runDeterministic() const {
  const KernelInfo &info = kernelInfo(kernel);
  auto isResult = [&](size_t i) { return args[i] && !isRead(info.arg(i).effect); };
  auto copies = [&] {
    std::vector<HostTensor> result;
    for (HostTensor *arg : args)
      result.push_back(arg ? *arg : HostTensor());
    return result;
  };
  auto restore = [&](const std::vector<HostTensor> &values) {
    for (size_t i = 0; i < args.size(); ++i)
      if (args[i])
        *args[i] = values[i];
  };
  std::vector<HostTensor> before = copies();
  run(1);
  std::vector<HostTensor> alone = copies();
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i] && isRead(info.arg(i).effect))
      EXPECT_TRUE(args[i]->bytes() == before[i].bytes()) << info.name << " changed argument " << i;
  for (int threads : {2, 3}) {
    restore(before);
    run(threads);
    for (size_t i = 0; i < args.size(); ++i)
      if (isResult(i))
        EXPECT_TRUE(args[i]->bytes() == alone[i].bytes())
            << info.name << ": argument " << i << " depends on the number of threads";
  }
  for (ProcessorIsa isa : {ProcessorIsa::Base, ProcessorIsa::V3}) {
    restore(before);
    limitProcessorIsa(isa);
    run();
    limitProcessorIsa(ProcessorIsa::V4);
    for (size_t i = 0; i < args.size(); ++i) {
      if (!isResult(i))
        continue;
      std::vector<double> expected = alone[i].values();
      bool finite = std::all_of(expected.begin(), expected.end(), [](double value) { return std::isfinite(value); });
      // Another order of a sum may round a bf16 the other way.
      if (finite && args[i]->shape().dtype != DType::I64)
        EXPECT_LT(relativeError(*args[i], expected), 2 * tolerance(args[i]->shape().dtype))
            << info.name << ": argument " << i << " as compiled for processor level " << static_cast<int>(isa);
    }
  }
  restore(alone);
}

HostTensor segmentTable(const BucketShape &bucket, const std::vector<int64_t> &lengths,
                        const std::vector<int64_t> &trained) {
  SegmentLayout layout{bucket};
  HostTensor table(DType::I32, {layout.size()});
  std::vector<double> values(layout.size(), -1);
  int64_t tokens = 0, chunks = 0;
  std::vector<std::pair<int64_t, int64_t>> tiles; // keys, first token
  for (size_t d = 0; d < lengths.size(); ++d) {
    values[layout.documentOffsets() + d] = static_cast<double>(tokens);
    for (int64_t t = 0; t < lengths[d]; ++t) {
      values[layout.tokenDocument() + tokens + t] = static_cast<double>(d);
      if (t % kChunkTokens == 0)
        values[layout.chunkStart() + chunks++] = static_cast<double>(tokens + t);
      if (t % kTileTokens == 0)
        tiles.emplace_back(std::min(t + kTileTokens, lengths[d]), tokens + t);
    }
    tokens += lengths[d];
  }
  for (int64_t d = static_cast<int64_t>(lengths.size()); d <= bucket.documents; ++d)
    values[layout.documentOffsets() + d] = static_cast<double>(tokens);
  std::stable_sort(tiles.begin(), tiles.end(), [](auto &a, auto &b) { return a.first > b.first; });
  for (size_t i = 0; i < tiles.size(); ++i)
    values[layout.tileStart() + i] = static_cast<double>(tiles[i].second);
  for (size_t r = 0; r < trained.size(); ++r)
    values[layout.trainedRows() + r] = static_cast<double>(trained[r]);
  values[0] = static_cast<double>(tokens);
  values[1] = static_cast<double>(lengths.size());
  values[2] = static_cast<double>(chunks);
  values[3] = static_cast<double>(tiles.size());
  values[4] = static_cast<double>(trained.size());
  table.fill(values);
  return table;
}

} // namespace qrt::cpu::test
