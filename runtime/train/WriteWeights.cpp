// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/WriteWeights.h"

#include "runtime/base/ThreadPool.h"
#include "runtime/train/Convert.h"

#include <algorithm>

namespace qrt {
namespace {

struct Piece {
  size_t parameter;
  int64_t first, elements;
};

/// What a thread works with.
struct Staging {
  std::vector<float> values;
  std::shared_ptr<std::byte> memory;
};

Status writePiece(Session &session, const Piece &piece, std::span<const float> values, std::byte *memory) {
  const Parameter &parameter = session.program().parameters()[piece.parameter];
  for (ParameterPart part : {ParameterPart::Master, ParameterPart::Weight}) {
    if (!parameter.part(part))
      continue;
    DType dtype = parameter.part(part)->dtype;
    std::span<std::byte> bytes(memory, values.size() * static_cast<size_t>(byteSize(dtype)));
    bytesFromFloats(dtype, values, {reinterpret_cast<uint8_t *>(bytes.data()), bytes.size()});
    QRT_RETURN_IF_ERROR(session.writeParameter(parameter, part, piece.first, bytes));
  }
  return Status();
}

} // namespace

Status writeWeights(Session &session, const FillWeights &fill) {
  std::vector<Piece> pieces;
  const std::vector<Parameter> &parameters = session.program().parameters();
  int64_t widest = 0;
  for (const Parameter &parameter : parameters)
    for (const std::optional<BufferRef> &part : parameter.parts)
      widest = std::max(widest, part ? byteSize(part->dtype) : 0);
  for (size_t i = 0; i < parameters.size(); ++i)
    for (int64_t first = 0; first < parameters[i].elements; first += kPieceElements)
      pieces.push_back({i, first, std::min(kPieceElements, parameters[i].elements - first)});
  ThreadPool threads(std::clamp(static_cast<int>(pieces.size()), 1, processorCount()));
  std::vector<Staging> staging(static_cast<size_t>(threads.size()));
  for (Staging &its : staging) {
    its.values.resize(kPieceElements);
    QRT_ASSIGN_OR_RETURN(its.memory, session.device().hostMemory(kPieceElements * widest));
  }
  std::vector<Status> results(pieces.size());
  threads.forEach(static_cast<int64_t>(pieces.size()), [&](int64_t index, int thread) {
    const Piece &piece = pieces[static_cast<size_t>(index)];
    Staging &its = staging[static_cast<size_t>(thread)];
    std::span<float> values(its.values.data(), static_cast<size_t>(piece.elements));
    fill(piece.parameter, piece.first, values);
    results[static_cast<size_t>(index)] = writePiece(session, piece, values, its.memory.get());
  });
  for (Status &status : results)
    QRT_RETURN_IF_ERROR(std::move(status));
  return Status();
}

Status startOptimizer(Session &session) {
  for (const Parameter &parameter : session.program().parameters())
    for (ParameterPart part : {ParameterPart::ExpAvg, ParameterPart::ExpAvgSq})
      if (parameter.part(part))
        QRT_RETURN_IF_ERROR(session.zeroParameter(parameter, part));
  QRT_RETURN_IF_ERROR(session.zeroGradients());
  return session.writeCounters({0, 0});
}

} // namespace qrt
