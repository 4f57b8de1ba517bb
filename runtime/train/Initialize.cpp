// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Initialize.h"

#include "runtime/base/NameKey.h"
#include "runtime/base/Philox.h"
#include "runtime/train/NormalNumbers.h"
#include "runtime/train/WriteWeights.h"

#include <algorithm>
#include <cmath>

namespace qrt {
namespace {

/// Two uniform numbers in [0, 1) of 53 bits for pair `index` of a parameter.
std::array<double, 2> uniformPair(uint64_t seed, uint64_t name, uint64_t index) {
  PhiloxCounter random = philox4x32({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                                     static_cast<uint32_t>(name), static_cast<uint32_t>(name >> 32)},
                                    philoxKey(seed));
  auto uniform = [](uint32_t low, uint32_t high) {
    return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
  };
  return {uniform(random[0], random[1]), uniform(random[2], random[3])};
}

/// Elements from `first` on of a stream of pairs, which need not begin or end with a pair.
void normalValues(const Parameter &parameter, uint64_t seed, uint64_t name, uint64_t first, std::span<float> values) {
  auto draw = [&](uint64_t pair, std::span<float> to) {
    normalNumbers(seed, name, pair, parameter.initA, parameter.initB, to);
  };
  float pair[2];
  if (first % 2 != 0 && !values.empty()) {
    draw(first / 2, pair);
    values[0] = pair[1];
    values = values.subspan(1);
    ++first;
  }
  draw(first / 2, values.first(values.size() / 2 * 2));
  if (values.size() % 2 != 0) {
    draw((first + values.size() - 1) / 2, pair);
    values.back() = pair[0];
  }
}

} // namespace

void initialValues(const Parameter &parameter, uint64_t seed, int64_t first, std::span<float> values) {
  auto name = static_cast<uint64_t>(nameKey(parameter.checkpointNames[0]));
  double a = parameter.initA, b = parameter.initB;
  switch (parameter.init) {
  case InitKind::Zeros:
  case InitKind::Ones:
    std::fill(values.begin(), values.end(), parameter.init == InitKind::Ones ? 1.0F : 0.0F);
    return;
  case InitKind::Normal:
    normalValues(parameter, seed, name, static_cast<uint64_t>(first), values);
    return;
  case InitKind::LogUniform:
    for (size_t i = 0; i < values.size(); ++i) {
      uint64_t element = static_cast<uint64_t>(first) + i;
      values[i] = static_cast<float>(std::log(a + (b - a) * uniformPair(seed, name, element / 2)[element % 2]));
    }
    return;
  }
}

Status initializeWeights(Session &session, uint64_t seed) {
  const std::vector<Parameter> &parameters = session.program().parameters();
  QRT_RETURN_IF_ERROR(writeWeights(session, [&](size_t parameter, int64_t first, std::span<float> values) {
    initialValues(parameters[parameter], seed, first, values);
  }));
  return startOptimizer(session);
}

} // namespace qrt
