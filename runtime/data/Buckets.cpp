// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Buckets.h"

#include "runtime/base/Digits.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <tuple>

namespace qrt {

namespace {

constexpr size_t kMaxBuckets = 4;
constexpr int64_t kTrainedStep = 1024;
constexpr int64_t kLongestStep = 64;

int64_t roundUp(int64_t value, int64_t step) { return (std::max<int64_t>(value, 1) + step - 1) / step * step; }

/// Rows of one rounded trained count.
struct Group {
  int64_t trained;
  int64_t rows = 0;
  int64_t documents = 1;
  int64_t longest = 1;
};

/// Where to part the groups into `parts` ranges so that the sum of rows times the largest trained count of their range
/// is least: the index after the last group of each range. At most tokens / 1024 groups: a plain dynamic program.
struct Partition {
  double cost;
  std::vector<size_t> ends;
};

Partition partition(const std::vector<Group> &groups, size_t parts) {
  size_t n = groups.size();
  std::vector<double> rowsBefore(n + 1, 0.0);
  for (size_t i = 0; i < n; ++i)
    rowsBefore[i + 1] = rowsBefore[i] + static_cast<double>(groups[i].rows);
  // best[p][i]: the first i groups in p ranges; from[p][i]: where the last of them begins.
  std::vector<std::vector<double>> best(parts + 1, std::vector<double>(n + 1, std::numeric_limits<double>::infinity()));
  std::vector<std::vector<size_t>> from(parts + 1, std::vector<size_t>(n + 1, 0));
  best[0][0] = 0.0;
  for (size_t p = 1; p <= parts; ++p)
    for (size_t end = p; end <= n; ++end)
      for (size_t begin = p - 1; begin < end; ++begin) {
        double cost =
            best[p - 1][begin] + (rowsBefore[end] - rowsBefore[begin]) * static_cast<double>(groups[end - 1].trained);
        if (cost < best[p][end]) {
          best[p][end] = cost;
          from[p][end] = begin;
        }
      }
  Partition result{best[parts][n], {}};
  for (size_t p = parts, end = n; p > 0; end = from[p--][end])
    result.ends.insert(result.ends.begin(), end);
  return result;
}

} // namespace

BucketShape roundedBucket(const BucketShape &row, int64_t tokens) {
  auto documents = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(row.documents, 1))));
  return {tokens, std::min(documents, tokens), std::min(roundUp(row.longest, kLongestStep), tokens),
          std::min(roundUp(row.trained, kTrainedStep), tokens)};
}

std::vector<BucketShape> chooseBuckets(const Manifest &manifest) {
  const int64_t tokens = manifest.rowLength;
  std::map<int64_t, Group> byTrained;
  for (const ShardManifest &shard : manifest.shards)
    for (const BucketShape &row : shard.rows) {
      int64_t trained = roundedBucket(row, tokens).trained;
      Group &group = byTrained.try_emplace(trained, Group{trained}).first->second;
      group.rows += 1;
      group.documents = std::max(group.documents, row.documents);
      group.longest = std::max(group.longest, row.longest);
    }
  std::vector<Group> groups;
  for (const auto &[trained, group] : byTrained)
    groups.push_back(group);
  if (groups.empty())
    return {};

  Partition chosen = partition(groups, 1);
  for (size_t parts = 2; parts <= std::min(kMaxBuckets, groups.size()); ++parts)
    if (Partition finer = partition(groups, parts); finer.cost <= 0.98 * chosen.cost)
      chosen = std::move(finer);

  std::vector<BucketShape> buckets;
  int64_t documents = 1;
  int64_t longest = 1;
  size_t at = 0;
  for (size_t end : chosen.ends) {
    for (; at < end; ++at) {
      documents = std::max(documents, groups[at].documents);
      longest = std::max(longest, groups[at].longest);
    }
    buckets.push_back(roundedBucket({tokens, documents, longest, groups[end - 1].trained}, tokens));
  }
  return buckets;
}

StatusOr<size_t> findBucket(std::span<const BucketShape> buckets, const BucketShape &row) {
  auto work = [](const BucketShape &b) { return std::tuple(b.tokens, b.trained, b.longest, b.documents); };
  size_t found = buckets.size();
  for (size_t i = 0; i < buckets.size(); ++i)
    if (buckets[i].holds(row) && (found == buckets.size() || work(buckets[i]) < work(buckets[found])))
      found = i;
  if (found < buckets.size())
    return found;
  std::string have;
  for (const BucketShape &bucket : buckets)
    have += (have.empty() ? "" : ", ") + printBucket(bucket);
  return error(StatusCode::ResourceExhausted,
               "no bucket takes a row of {}, {}, {} in its longest document and {}; there are: {}",
               countOf(row.tokens, "token"), countOf(row.documents, "document"), countOf(row.longest, "token"),
               countOf(row.trained, "trained token"), have.empty() ? "none" : have);
}

} // namespace qrt
