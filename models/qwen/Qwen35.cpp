// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Qwen 3.5 text model as mathematics: the delta rule a scan over tokens, attention a masked softmax. Names of
// weights and steps as in docs/model.md, which says where each formula comes from.
#include "models/qwen/Qwen35.h"

#include "compiler/dsl/Tensor.h"
#include "models/qwen/WeightMap.h"

#include <cmath>

using namespace mlir;

namespace qcc::qwen {
namespace {

using dsl::kTokens;
using dsl::Tensor;
using Scope = dsl::Graph::Scope;

/// Added to the sum of squares of a query or key of the delta rule.
constexpr double kL2NormEps = 1e-6;

class Model {
public:
  Model(dsl::Graph &graph, const Config &config)
      : g_(graph), c_(config), w_(graph, config), docs_(graph.documents()), f32_(graph.builder().getF32Type()) {}

  Tensor loss();

private:
  Tensor layer(Tensor x, size_t i);
  Tensor attention(Tensor n, const std::string &name);
  Tensor gatedDeltaNet(Tensor n, const std::string &name);
  Tensor deltaRule(Tensor q, Tensor k, Tensor v, Tensor g, Tensor beta);
  Tensor mlp(Tensor n, const std::string &name);

  /// x W^T with the weight NAME.weight, in the scope of that name's last part.
  Tensor project(Tensor x, const std::string &module, StringRef name, int64_t out) {
    Scope scope(g_, name);
    return dsl::linear(x, w_.projection(module + "." + name + ".weight", out, x.dim(x.type().getRank() - 1)));
  }
  Tensor norm(Tensor x, const std::string &module, StringRef name) {
    Scope scope(g_, name);
    return dsl::rmsNorm(x, w_.norm(module + name + ".weight", x.dim(x.type().getRank() - 1)), c_.rmsNormEps);
  }
  static Tensor heads(Tensor x, int64_t count, int64_t width) { return dsl::reshape(x, {kTokens, count, width}); }
  static Tensor flat(Tensor x) { return dsl::reshape(x, {kTokens, x.dim(1) * x.dim(2)}); }

  dsl::Graph &g_;
  const Config &c_;
  Weights w_;
  dsl::Documents docs_;
  Type f32_;
};

Tensor Model::loss() {
  Tensor x;
  {
    Scope scope(g_, "embed_tokens");
    x = dsl::embedding(docs_, g_.ids(), w_.embedding());
    g_.watch(x, "hidden.0");
  }
  for (size_t i = 0; i < c_.layers.size(); ++i) {
    Scope scope(g_, "layers." + Twine(i));
    x = layer(x, i);
    // The last hidden state is the one after the final norm.
    if (i + 1 < c_.layers.size())
      g_.watch(x, "hidden." + std::to_string(i + 1));
  }
  x = norm(x, "", "norm");
  Scope scope(g_, "lm_head");
  g_.watch(x, "hidden." + std::to_string(c_.layers.size()));
  return dsl::crossEntropy(dsl::linear(x, w_.head()), g_.labels());
}

Tensor Model::layer(Tensor x, size_t i) {
  std::string name = "layers." + std::to_string(i) + ".";
  Tensor n = norm(x, name, "input_layernorm");
  if (c_.layers[i] == LayerType::FullAttention) {
    Scope scope(g_, "self_attn");
    x = x + attention(n, name + "self_attn");
  } else {
    Scope scope(g_, "linear_attn");
    x = x + gatedDeltaNet(n, name + "linear_attn");
  }
  n = norm(x, name, "post_attention_layernorm");
  Scope scope(g_, "mlp");
  return x + mlp(n, name + "mlp");
}

Tensor Model::mlp(Tensor n, const std::string &name) {
  Tensor gate = project(n, name, "gate_proj", c_.intermediate);
  Tensor up = project(n, name, "up_proj", c_.intermediate);
  return project(dsl::silu(gate) * up, name, "down_proj", c_.hidden);
}

Tensor Model::attention(Tensor n, const std::string &name) {
  const int64_t H = c_.heads, G = c_.kvHeads, D = c_.headDim;
  // Per head, the first D columns are the query and the next D the output gate.
  SmallVector<Tensor> parts = dsl::split(heads(project(n, name, "q_proj", H * 2 * D), H, 2 * D), 2, {D, D});
  Tensor q = parts[0], gate = parts[1];
  Tensor k = heads(project(n, name, "k_proj", G * D), G, D);
  Tensor v = heads(project(n, name, "v_proj", G * D), G, D);
  q = dsl::rope(docs_, norm(q, name + ".", "q_norm"), c_.ropeTheta, c_.rotaryDims());
  k = dsl::rope(docs_, norm(k, name + ".", "k_norm"), c_.ropeTheta, c_.rotaryDims());

  k = dsl::repeatHeads(k, H / G);
  v = dsl::repeatHeads(v, H / G);
  Tensor scores = dsl::contract(dsl::cast(q, f32_), dsl::cast(k, f32_), {{1}, {1}}, {{2}, {2}});
  Tensor p = dsl::softmax(dsl::causalMask(docs_, scores * (1 / std::sqrt(static_cast<double>(D)))));
  Tensor o = dsl::contract(p, dsl::cast(v, f32_), {{0}, {1}}, {{2}, {0}});
  o = dsl::cast(dsl::transpose(o, {1, 0, 2}), n.elementType());
  return project(flat(o * dsl::sigmoid(gate)), name, "o_proj", c_.hidden);
}

Tensor Model::gatedDeltaNet(Tensor n, const std::string &name) {
  const int64_t K = c_.gdnKeyHeads, W = c_.gdnValueHeads, dk = c_.gdnKeyDim, dv = c_.gdnValueDim;
  const int64_t keyWidth = c_.gdnKeyWidth(), valueWidth = c_.gdnValueWidth();
  Type md = n.elementType();

  Tensor qkv = project(n, name, "in_proj_qkv", 2 * keyWidth + valueWidth);
  Tensor z = project(n, name, "in_proj_z", valueWidth);
  Tensor b = project(n, name, "in_proj_b", W);
  Tensor a = project(n, name, "in_proj_a", W);

  Tensor c = dsl::silu(dsl::causalConv(docs_, qkv, w_.convolution(name + ".conv1d.weight", qkv.dim(1))));
  SmallVector<Tensor> parts = dsl::split(c, 1, {keyWidth, keyWidth, valueWidth});
  Tensor q = dsl::l2Norm(heads(parts[0], K, dk), kL2NormEps);
  Tensor k = dsl::l2Norm(heads(parts[1], K, dk), kL2NormEps);
  Tensor v = heads(parts[2], W, dv);

  q = dsl::repeatHeads(dsl::cast(q, f32_) * (1 / std::sqrt(static_cast<double>(dk))), W / K);
  k = dsl::repeatHeads(dsl::cast(k, f32_), W / K);
  Tensor beta = dsl::cast(dsl::sigmoid(b), f32_);
  Tensor decay = -dsl::exp(dsl::cast(w_.aLog(name + ".A_log"), f32_));
  Tensor g = dsl::softplus(dsl::cast(a, f32_) + dsl::cast(w_.dtBias(name + ".dt_bias"), f32_)) * decay;
  Tensor o = dsl::cast(deltaRule(q, k, dsl::cast(v, f32_), g, beta), md);

  Tensor normed = dsl::cast(dsl::plainRmsNorm(o, w_.gatedNorm(name + ".norm.weight"), c_.rmsNormEps), f32_);
  Tensor y = dsl::cast(normed * dsl::silu(dsl::cast(heads(z, W, dv), f32_)), md);
  return project(flat(y), name, "out_proj", c_.hidden);
}

Tensor Model::deltaRule(Tensor q, Tensor k, Tensor v, Tensor g, Tensor beta) {
  const int64_t W = c_.gdnValueHeads, dk = c_.gdnKeyDim, dv = c_.gdnValueDim;
  auto state = RankedTensorType::get({W, dk, dv}, f32_);
  return dsl::scan(docs_, {q, k, v, g, beta}, state, [&](Tensor s, ArrayRef<Tensor> row) -> dsl::Yield {
    Tensor qt = row[0], kt = row[1], vt = row[2], gt = row[3], bt = row[4];
    s = dsl::broadcast(dsl::exp(gt), {0}, {W, dk, dv}) * s;
    Tensor d = dsl::broadcast(bt, {0}, {W, dv}) * (vt - dsl::matvecT(s, kt));
    s = s + dsl::outer(kt, d);
    return {s, {dsl::matvecT(s, qt)}};
  })[0];
}

} // namespace

OwningOpRef<ModuleOp> buildModel(MLIRContext &context, const Config &config) {
  dsl::Graph graph(context);
  Tensor loss = Model(graph, config).loss();
  OwningOpRef<ModuleOp> module = graph.finish(loss);
  (*module)->setAttr(qt::kModelConfigAttr, StringAttr::get(&context, toHuggingFace(config).dump()));
  (*module)->setAttr(qt::kVocabularyAttr, IntegerAttr::get(IntegerType::get(&context, 64), config.vocabulary));
  (*module)->setAttr(qt::kOtherTensorsAttr, graph.builder().getStrArrayAttr(Weights::otherTensors()));
  return module;
}

} // namespace qcc::qwen
