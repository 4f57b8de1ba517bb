// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef DIALECTS_QT_REFERENCE_ATTENTION_H
#define DIALECTS_QT_REFERENCE_ATTENTION_H

#include "dialects/qt/reference/Functions.h"

namespace qt::reference {

template <typename Scalar> struct AttentionForward {
  /// [T,H,D], before any gate.
  Tensor<Scalar> out;
  /// [T,H], natural logarithm of the sum of e^(scale q.k).
  Tensor<Scalar> lse;
};

/// Causal softmax attention inside each document (docs/model.md, Full attention 4): q [T,H,D], k and v [T,G,D], query
/// head h reads head h / (H/G). Zeros in the tail.
template <typename Scalar>
AttentionForward<Scalar> attention(const Segments &docs, const Tensor<Scalar> &q, const Tensor<Scalar> &k,
                                   const Tensor<Scalar> &v, double scale) {
  int64_t heads = q.dim(1), groups = k.dim(1), width = q.dim(2);
  AttentionForward<Scalar> result{Tensor<Scalar>(q.shape()), Tensor<Scalar>({q.dim(0), heads})};
  std::vector<Scalar> scores(docs.longest());
  for (int64_t d = 0; d < docs.documents(); ++d)
    for (int64_t t = docs.begin(d); t < docs.end(d); ++t)
      for (int64_t head = 0; head < heads; ++head) {
        int64_t group = head * groups / heads, keys = t - docs.begin(d) + 1;
        for (int64_t i = 0; i < keys; ++i)
          scores[i] = Scalar(scale) * dot(q.at(t, head), k.at(docs.begin(d) + i, group), width);
        Scalar lse = logSumExp(scores.data(), keys);
        for (int64_t i = 0; i < keys; ++i)
          addScaled(result.out.at(t, head), exp(scores[i] - lse), v.at(docs.begin(d) + i, group), width);
        result.lse.at(t)[head] = lse;
      }
  return result;
}

} // namespace qt::reference

#endif // DIALECTS_QT_REFERENCE_ATTENTION_H
