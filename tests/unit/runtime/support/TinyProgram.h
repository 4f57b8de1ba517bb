// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole training program of a model of one MLP block: embedding, norm, SwiGLU with a parameter pack, add + norm,
// head. All entry functions, every kind of instruction, one f32 parameter among bf16 ones.
#ifndef TESTS_UNIT_RUNTIME_SUPPORT_TINYPROGRAM_H
#define TESTS_UNIT_RUNTIME_SUPPORT_TINYPROGRAM_H

#include "tests/unit/runtime/support/ProgramBuilder.h"

namespace qrt::test {

struct TinyModel {
  int64_t vocabulary = 23, hidden = 8, intermediate = 12;
  /// Of weights and activations; bf16 has masters.
  DType dtype = DType::F32;
  bool accumulate = true;
};

/// The parameters and, for each bucket, the entries of a program.
class TinyProgram {
public:
  explicit TinyProgram(const TinyModel &model = {}, const std::vector<BucketShape> &buckets = {{16, 4, 16, 12}})
      : builder(model.vocabulary), model_(model) {
    ProgramBuilder::Formats formats;
    formats.weight = model.dtype;
    formats.master = model.dtype == DType::BF16;
    embedding_ = builder.parameter("embed_tokens.weight", {model.vocabulary, model.hidden}, formats);
    gate_ = builder.parameters({{"layers.0.mlp.gate_proj.weight", {model.intermediate, model.hidden}},
                                {"layers.0.mlp.up_proj.weight", {model.intermediate, model.hidden}}},
                               formats);
    builder.pack("layers.0.mlp.gate_up", {static_cast<uint32_t>(gate_), static_cast<uint32_t>(gate_) + 1});
    down_ = builder.parameter("layers.0.mlp.down_proj.weight", {model.hidden, model.intermediate}, formats);
    head_ = builder.parameter("lm_head.weight", {model.vocabulary, model.hidden}, formats);
    builder.program.parameters.back()->checkpoint_names = {"lm_head.weight"};
    ProgramBuilder::Formats normFormats;
    normFormats.decay = false;
    normFormats.init = InitKind::Zeros;
    norm_ = builder.parameter("layers.0.input_layernorm.weight", {model.hidden}, normFormats);
    normFormats.init = InitKind::Ones;
    finalNorm_ = builder.parameter("norm.weight", {model.hidden}, normFormats);
    for (const BucketShape &bucket : buckets) {
      training(EntryKind::Step, bucket);
      if (model.accumulate)
        training(EntryKind::Accumulate, bucket);
      eval(bucket);
    }
    if (model.accumulate)
      apply();
  }

  ProgramBuilder builder;

  StatusOr<Program> build(const std::string &source = "tiny.qprog") const { return builder.build(source); }
  /// The entry of this kind that was added first.
  fb::EntryT &entry(EntryKind kind) {
    for (auto &entry : builder.program.entries)
      if (entry->kind == static_cast<fb::EntryKind>(kind))
        return *entry;
    std::abort();
  }

private:
  static ParamValue number(double value) { return {.f = value}; }
  static constexpr double kEps = 1e-6;

  struct Forward {
    int docs, ids, labels, x, normed, gateUp, gate, up, product, sum, final, rows, rowLabels;
  };

  Forward forward(EntryBuilder &e, const BucketShape &bucket) {
    DType md = model_.dtype;
    int64_t tokens = bucket.tokens, hidden = model_.hidden, width = model_.intermediate;
    Forward f;
    f.ids = e.argument(ArgumentRole::Ids);
    f.labels = e.argument(ArgumentRole::Labels);
    f.docs = e.argument(ArgumentRole::Segments);
    f.x = e.transient(md, {tokens, hidden});
    e.launch(Kernel::Embedding, {f.docs, f.ids, e.part(embedding_, ParameterPart::Weight), f.x}, {}, {},
             "embed_tokens");
    e.debug("hidden.0", f.x, false);
    f.normed = e.transient(md, {tokens, hidden});
    e.launch(Kernel::RmsNorm, {f.x, e.part(norm_, ParameterPart::Weight), f.normed, -1}, {number(kEps)}, {},
             "layers.0.input_layernorm");
    f.gateUp = e.transient(md, {tokens, 2 * width});
    f.gate = e.columns(f.gateUp, 0, width);
    f.up = e.columns(f.gateUp, width, width);
    e.gemm(f.normed, e.part(gate_, ParameterPart::Weight, 2 * width), f.gateUp, false, true);
    f.product = e.transient(md, {tokens, width});
    e.launch(Kernel::Swiglu, {f.gate, f.up, f.product}, {}, {}, "layers.0.mlp");
    int delta = e.transient(md, {tokens, hidden});
    e.gemm(f.product, e.part(down_, ParameterPart::Weight), delta, false, true);
    f.sum = e.transient(md, {tokens, hidden});
    f.final = e.transient(md, {tokens, hidden});
    e.launch(Kernel::AddRmsNorm, {f.x, delta, e.part(finalNorm_, ParameterPart::Weight), f.sum, f.final, -1},
             {number(kEps)}, {}, "norm");
    e.debug("hidden.1", f.final, false);
    f.rows = e.transient(md, {bucket.trained, hidden});
    e.launch(Kernel::GatherRows, {f.docs, f.final, f.rows}, {}, {}, "lm_head");
    f.rowLabels = e.transient(DType::I32, {bucket.trained});
    e.launch(Kernel::GatherRows, {f.docs, f.labels, f.rowLabels}, {}, {}, "lm_head");
    return f;
  }

  /// The head's workspace: a tile of logits.
  void addLogits(EntryBuilder &e, const BucketShape &bucket) {
    e.workspace(e.transient(DType::F32, {std::min<int64_t>(256, bucket.trained) * model_.vocabulary}));
  }

  void eval(const BucketShape &bucket) {
    EntryBuilder e = builder.entry(EntryKind::Eval, bucket);
    Forward f = forward(e, bucket);
    e.launch(Kernel::LinearCrossEntropy,
             {f.rows, e.part(head_, ParameterPart::Weight), f.rowLabels, e.result(ResultRole::Loss),
              e.result(ResultRole::RowLoss)},
             {}, {}, "lm_head");
    addLogits(e, bucket);
  }

  void training(EntryKind kind, const BucketShape &bucket) {
    EntryBuilder e = builder.entry(kind, bucket);
    Forward f = forward(e, bucket);
    bool accumulate = kind == EntryKind::Accumulate;
    DType md = model_.dtype;
    int64_t tokens = bucket.tokens, hidden = model_.hidden, width = model_.intermediate;
    int order = e.argument(ArgumentRole::EmbeddingOrder), inverse = e.argument(ArgumentRole::InverseTokens);
    // In a step a gradient has the type of its weight, f32 where there are several contributions.
    auto gradient = [&](int parameter, int64_t rows = 0) {
      if (accumulate)
        return e.part(parameter, ParameterPart::Gradient, rows);
      fb::SliceT weight = e.at(e.part(parameter, ParameterPart::Weight, rows));
      return e.transient(parameter == embedding_ ? DType::F32 : static_cast<DType>(weight.dtype), weight.shape);
    };
    int dHead = gradient(head_), dFinal = gradient(finalNorm_), dDown = gradient(down_),
        dGate = gradient(gate_, 2 * width);
    int dNorm = gradient(norm_), dEmbedding = gradient(embedding_);

    int dRows = e.transient(md, {bucket.trained, hidden});
    launchAdded(
        e, Kernel::LinearCrossEntropyGrad,
        {f.rows, e.part(head_, ParameterPart::Weight), f.rowLabels, inverse, e.result(ResultRole::Loss), dRows, dHead},
        {}, accumulate, 6, "lm_head");
    addLogits(e, bucket);
    e.debug("lm_head.weight", dHead, true);
    int dy = e.transient(md, {tokens, hidden});
    e.launch(Kernel::ScatterRows, {f.docs, dRows, dy}, {}, {}, "lm_head");
    int dSum = e.transient(md, {tokens, hidden});
    launchAdded(e, Kernel::AddRmsNormGrad, {f.sum, e.part(finalNorm_, ParameterPart::Weight), -1, -1, dy, dSum, dFinal},
                {number(kEps)}, accumulate, 6, "norm");
    e.debug("norm.weight", dFinal, true);
    int dProduct = e.transient(md, {tokens, width});
    e.gemm(dSum, e.part(down_, ParameterPart::Weight), dProduct, false, false);
    e.gemm(dSum, f.product, dDown, true, false, accumulate);
    e.debug("layers.0.mlp.down_proj.weight", dDown, true);
    int dGateUp = e.transient(md, {tokens, 2 * width});
    e.launch(Kernel::SwigluGrad,
             {f.gate, f.up, dProduct, e.columns(dGateUp, 0, width), e.columns(dGateUp, width, width)}, {}, {},
             "layers.0.mlp");
    int dNormed = e.transient(md, {tokens, hidden});
    e.gemm(dGateUp, e.part(gate_, ParameterPart::Weight, 2 * width), dNormed, false, false);
    e.gemm(dGateUp, f.normed, dGate, true, false, accumulate);
    e.debug("layers.0.mlp.gate_up", dGate, true);
    int dx = e.transient(md, {tokens, hidden});
    launchAdded(e, Kernel::RmsNormGrad, {f.x, e.part(norm_, ParameterPart::Weight), -1, dNormed, dx, dNorm},
                {number(kEps)}, accumulate, 5, "layers.0.input_layernorm");
    e.debug("layers.0.input_layernorm.weight", dNorm, true);
    // The residual's two cotangents, one after the other.
    launchAdded(e, Kernel::EmbeddingGrad, {f.docs, f.ids, order, dSum, dEmbedding}, {}, accumulate, 4, "embed_tokens");
    launchAdded(e, Kernel::EmbeddingGrad, {f.docs, f.ids, order, dx, dEmbedding}, {}, true, 4, "embed_tokens");
    e.debug("embed_tokens.weight", dEmbedding, true);
    if (!accumulate)
      optimizer(e, {{embedding_, dEmbedding},
                    {gate_, dGate},
                    {down_, dDown},
                    {head_, dHead},
                    {norm_, dNorm},
                    {finalNorm_, dFinal}});
  }

  void apply() {
    EntryBuilder e = builder.entry(EntryKind::Apply, {});
    std::vector<std::pair<int, int>> gradients;
    for (int parameter : {embedding_, gate_, down_, head_, norm_, finalNorm_})
      gradients.emplace_back(
          parameter, e.part(parameter, ParameterPart::Gradient, parameter == gate_ ? 2 * model_.intermediate : 0));
    optimizer(e, gradients);
    for (auto [parameter, gradient] : gradients)
      e.fill(gradient);
  }

  static void launchAdded(EntryBuilder &e, Kernel kernel, const std::vector<int> &slices,
                          const std::vector<ParamValue> &params, bool accumulate, int argument,
                          const std::string &scope) {
    if (accumulate)
      e.launch(kernel, slices, params, {argument}, scope);
    else
      e.launch(kernel, slices, params, {}, scope);
  }

  /// Pairs of a parameter and the slice of its gradient.
  void optimizer(EntryBuilder &e, const std::vector<std::pair<int, int>> &gradients) {
    int hyper = e.argument(ArgumentRole::Hyper), seed = e.argument(ArgumentRole::Seed);
    int norm = e.transient(DType::F32, {}), counters = e.counters();
    std::vector<int> arguments{norm};
    for (auto [parameter, gradient] : gradients)
      arguments.push_back(gradient);
    e.launch(Kernel::GlobalNorm, arguments, {}, {}, "optimizer");
    e.copy(norm, e.result(ResultRole::GradNorm));
    e.launch(Kernel::OptimizerStep, {norm, counters}, {}, {}, "optimizer");
    for (auto [parameter, gradient] : gradients) {
      const fb::ParameterT &it = *builder.program.parameters[static_cast<size_t>(parameter)];
      int64_t rows = parameter == gate_ ? 2 * model_.intermediate : 0;
      std::vector<ParamValue> params{{.i = it.decay}};
      for (int member = parameter; member <= parameter + (parameter == gate_); ++member) {
        int64_t elements = 1;
        for (int64_t dim : builder.program.parameters[static_cast<size_t>(member)]->shape)
          elements *= dim;
        params.push_back({.i = 1000 + member});
        params.push_back({.i = elements});
      }
      e.launch(Kernel::AdamW,
               {gradient, norm, counters, hyper, seed, e.part(parameter, ParameterPart::Weight, rows),
                e.part(parameter, ParameterPart::ExpAvg, rows), e.part(parameter, ParameterPart::ExpAvgSq, rows),
                it.master ? e.part(parameter, ParameterPart::Master, rows) : -1},
               params, {}, "optimizer");
    }
  }

  TinyModel model_;
  int embedding_, gate_, down_, head_, norm_, finalNorm_;
};

} // namespace qrt::test

#endif // TESTS_UNIT_RUNTIME_SUPPORT_TINYPROGRAM_H
