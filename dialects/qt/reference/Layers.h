// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mathematics that a model op, the compound that absorbs it and their adjoints share.
#ifndef DIALECTS_QT_REFERENCE_LAYERS_H
#define DIALECTS_QT_REFERENCE_LAYERS_H

#include "dialects/qt/reference/Functions.h"

namespace qt::reference {

/// theta^(-2i/rotaryDims) as the model defines it (docs/model.md, Full attention 3): a number of f32, from an exponent
/// and a power rounded to f32. These roundings belong to the model: at a position of thousands another frequency is
/// another angle.
inline double ropeFrequency(double theta, int64_t i, int64_t rotaryDims) {
  float exponent = static_cast<float>(2 * i) / static_cast<float>(rotaryDims);
  return 1.0f / static_cast<float>(std::pow(theta, static_cast<double>(exponent)));
}

/// Rotary position embedding of x [T,heads,D] (docs/model.md, Full attention 3): rotates the pairs (i, i +
/// rotaryDims/2) by position * ropeFrequency, the position counted from the start of each document; by the
/// opposite angle, which is the adjoint, if `backward`. Zeros in the tail.
template <typename Scalar>
Tensor<Scalar> rope(const Segments &docs, const Tensor<Scalar> &x, double theta, int64_t rotaryDims,
                    bool backward = false) {
  Tensor<Scalar> y(x.shape());
  int64_t heads = x.dim(1), width = x.dim(2), half = rotaryDims / 2;
  for (int64_t d = 0; d < docs.documents(); ++d)
    for (int64_t t = docs.begin(d); t < docs.end(d); ++t) {
      std::copy_n(x.at(t), heads * width, y.at(t));
      for (int64_t i = 0; i < half; ++i) {
        double angle = static_cast<double>(t - docs.begin(d)) * ropeFrequency(theta, i, rotaryDims);
        Scalar cosine(std::cos(angle)), sine(backward ? -std::sin(angle) : std::sin(angle));
        for (int64_t head = 0; head < heads; ++head) {
          const Scalar *in = x.at(t, head);
          Scalar *out = y.at(t, head);
          out[i] = in[i] * cosine - in[i + half] * sine;
          out[i + half] = in[i + half] * cosine + in[i] * sine;
        }
      }
    }
  return y;
}

/// Calls visit(t, j, source) for every token t of a document and tap j of a causal convolution that reads a token of
/// the same document, source = t - taps + 1 + j.
template <typename Visit> void forEachTap(const Segments &docs, int64_t taps, Visit visit) {
  for (int64_t d = 0; d < docs.documents(); ++d)
    for (int64_t t = docs.begin(d); t < docs.end(d); ++t)
      for (int64_t j = 0; j < taps; ++j)
        if (int64_t source = t - taps + 1 + j; source >= docs.begin(d))
          visit(t, j, source);
}

/// Depthwise causal convolution of x [T,C] with weight [C,1,taps] (docs/model.md, Gated DeltaNet 2): y_t = sum_j
/// weight[:,0,j] x_{t-taps+1+j}, zeros before the start of each document. Zeros in the tail.
template <typename Scalar>
Tensor<Scalar> causalConv(const Segments &docs, const Tensor<Scalar> &x, const Tensor<Scalar> &weight) {
  Tensor<Scalar> y(x.shape());
  int64_t channels = x.dim(1), taps = weight.dim(2);
  forEachTap(docs, taps, [&](int64_t t, int64_t j, int64_t source) {
    for (int64_t c = 0; c < channels; ++c)
      y.at(t)[c] += weight[c * taps + j] * x.at(source)[c];
  });
  return y;
}

/// 1 / sqrt(mean(x^2) + eps) of every vector of the last dimension.
template <typename Scalar> Tensor<Scalar> reciprocalRms(const Tensor<Scalar> &x, double eps) {
  Tensor<Scalar> rstd(x.shape().drop_back());
  for (int64_t i = 0; i < x.vectors(); ++i)
    rstd[i] = reciprocalRms(x.data() + i * x.width(), x.width(), eps);
  return rstd;
}

/// x * rstd * (offset + weight): with offset 1 the zero-centred norm, with 0 the plain one (docs/model.md, RMSNorm;
/// Gated DeltaNet 7).
template <typename Scalar>
Tensor<Scalar> scaledNorm(const Tensor<Scalar> &x, const Tensor<Scalar> &rstd, const Tensor<Scalar> &weight,
                          double offset) {
  Tensor<Scalar> y(x.shape());
  int64_t width = x.width();
  for (int64_t i = 0; i < x.size(); ++i)
    y[i] = x[i] * rstd[i / width] * (Scalar(offset) + weight[i % width]);
  return y;
}

/// x W^T of x [rows, in] and W [out, in].
template <typename Scalar> Tensor<Scalar> linear(const Tensor<Scalar> &x, const Tensor<Scalar> &weight) {
  Shape shape(x.shape());
  shape.back() = weight.dim(0);
  Tensor<Scalar> y(shape);
  int64_t out = weight.dim(0), in = weight.dim(1);
  for (int64_t i = 0; i < x.vectors(); ++i)
    for (int64_t j = 0; j < out; ++j)
      y[i * out + j] = dot(x.data() + i * in, weight.at(j), in);
  return y;
}

} // namespace qt::reference

#endif // DIALECTS_QT_REFERENCE_LAYERS_H
