// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Initialize.h"

#include "runtime/base/NameKey.h"
#include "runtime/base/Philox.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/train/Convert.h"

#include <cmath>
#include <numbers>

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

/// Two independent standard normal numbers from two uniform ones. G. E. P. Box, M. E. Muller: A Note on the Generation
/// of Random Normal Deviates. 1958.
std::array<double, 2> boxMuller(std::array<double, 2> uniform) {
  // 1 - u lies in (0, 1]: its logarithm is finite.
  double radius = std::sqrt(-2 * std::log(1 - uniform[0])), angle = 2 * std::numbers::pi * uniform[1];
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

} // namespace

void initialValues(const Parameter &parameter, uint64_t seed, int64_t first, std::span<float> values) {
  if (parameter.init == InitKind::Zeros || parameter.init == InitKind::Ones) {
    std::fill(values.begin(), values.end(), parameter.init == InitKind::Ones ? 1.0F : 0.0F);
    return;
  }
  auto name = static_cast<uint64_t>(nameKey(parameter.checkpointNames[0]));
  double a = parameter.initA, b = parameter.initB;
  std::array<double, 2> pair{};
  for (size_t i = 0; i < values.size(); ++i) {
    auto element = static_cast<uint64_t>(first) + i;
    if (i == 0 || element % 2 == 0) {
      pair = uniformPair(seed, name, element / 2);
      if (parameter.init == InitKind::Normal)
        pair = boxMuller(pair);
    }
    double drawn = pair[element % 2];
    values[i] = static_cast<float>(parameter.init == InitKind::Normal ? a + b * drawn : std::log(a + (b - a) * drawn));
  }
}

Status writeWeights(Session &session, const Parameter &parameter, int64_t first, std::span<const float> values) {
  if (parameter.part(ParameterPart::Master))
    QRT_RETURN_IF_ERROR(session.writeParameter(parameter, ParameterPart::Master, first, std::as_bytes(values)));
  DType dtype = parameter.weight().dtype;
  if (dtype == DType::F32)
    return session.writeParameter(parameter, ParameterPart::Weight, first, std::as_bytes(values));
  std::vector<uint8_t> bytes(values.size() * static_cast<size_t>(byteSize(dtype)));
  bytesFromFloats(dtype, values, bytes);
  return session.writeParameter(parameter, ParameterPart::Weight, first, std::as_bytes(std::span(bytes)));
}

Status startOptimizer(Session &session) {
  for (const Parameter &parameter : session.program().parameters())
    for (ParameterPart part : {ParameterPart::ExpAvg, ParameterPart::ExpAvgSq})
      if (parameter.part(part))
        QRT_RETURN_IF_ERROR(session.zeroParameter(parameter, part));
  QRT_RETURN_IF_ERROR(session.zeroGradients());
  return session.writeCounters({0, 0});
}

Status initializeWeights(Session &session, uint64_t seed) {
  struct Piece {
    const Parameter *parameter;
    int64_t first, elements;
  };
  std::vector<Piece> pieces;
  for (const Parameter &parameter : session.program().parameters())
    for (int64_t first = 0; first < parameter.elements; first += kPieceElements)
      pieces.push_back({&parameter, first, std::min(kPieceElements, parameter.elements - first)});
  // Drawing the numbers is all of the work: each piece on its own, some at a time.
  ThreadPool threads(processorCount());
  std::vector<std::vector<float>> values(static_cast<size_t>(4 * threads.size()));
  for (size_t begin = 0; begin < pieces.size(); begin += values.size()) {
    size_t count = std::min(values.size(), pieces.size() - begin);
    threads.forEach(static_cast<int64_t>(count), [&](int64_t i, int) {
      const Piece &piece = pieces[begin + static_cast<size_t>(i)];
      std::vector<float> &its = values[static_cast<size_t>(i)];
      its.resize(static_cast<size_t>(piece.elements));
      initialValues(*piece.parameter, seed, piece.first, its);
    });
    for (size_t i = 0; i < count; ++i)
      QRT_RETURN_IF_ERROR(writeWeights(session, *pieces[begin + i].parameter, pieces[begin + i].first, values[i]));
  }
  return startOptimizer(session);
}

} // namespace qrt
