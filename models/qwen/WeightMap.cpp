// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "models/qwen/WeightMap.h"

using namespace mlir;

namespace qcc::qwen {

static constexpr StringRef kHead = "lm_head.weight";
static constexpr StringRef kHeadNames[] = {kHead};

Type Weights::storage() {
  OpBuilder &builder = graph_.builder();
  return config_.dtype == qrt::DType::F32 ? Type(builder.getF32Type()) : Type(builder.getBF16Type());
}

qt::InitAttr Weights::init(qt::InitKind kind, double a, double b) {
  return qt::InitAttr::get(&graph_.context(), kind, a, b);
}

ArrayRef<StringRef> Weights::otherTensors() {
  static constexpr StringRef kPrefixes[] = {"mtp.", "model.visual."};
  return kPrefixes;
}

dsl::Tensor Weights::declare(const Twine &name, dsl::Shape shape, Type type, qt::InitAttr init,
                             ArrayRef<StringRef> tied) {
  std::string symbol = name.str();
  // Text-only checkpoints say `model.`, published ones `model.language_model.`; the head is at the top of both.
  SmallVector<std::string> names;
  if (symbol == kHead)
    names = {symbol};
  else
    names = {"model." + symbol, "model.language_model." + symbol};
  return graph_.parameter(symbol, shape, type, init, names, tied);
}

dsl::Tensor Weights::projection(const Twine &name, int64_t out, int64_t in) {
  return declare(name, {out, in}, storage(), init(qt::InitKind::Normal, 0, config_.initializerRange));
}

dsl::Tensor Weights::embedding() {
  ArrayRef<StringRef> tied;
  if (config_.tied)
    tied = kHeadNames;
  return declare("embed_tokens.weight", {config_.vocabulary, config_.hidden}, storage(),
                 init(qt::InitKind::Normal, 0, config_.initializerRange), tied);
}

dsl::Tensor Weights::head() {
  return config_.tied ? embedding() : projection(kHead, config_.vocabulary, config_.hidden);
}

dsl::Tensor Weights::norm(const Twine &name, int64_t size) {
  return declare(name, {size}, storage(), init(qt::InitKind::Zeros));
}

dsl::Tensor Weights::gatedNorm(const Twine &name) {
  return declare(name, {config_.gdnValueDim}, graph_.builder().getF32Type(), init(qt::InitKind::Ones));
}

dsl::Tensor Weights::convolution(const Twine &name, int64_t channels) {
  return declare(name, {channels, 1, config_.convTaps}, storage(),
                 init(qt::InitKind::Normal, 0, config_.initializerRange));
}

dsl::Tensor Weights::aLog(const Twine &name) {
  constexpr double kLow = 0.01, kHigh = 16;
  return declare(name, {config_.gdnValueHeads}, graph_.builder().getF32Type(),
                 init(qt::InitKind::LogUniform, kLow, kHigh));
}

dsl::Tensor Weights::dtBias(const Twine &name) {
  return declare(name, {config_.gdnValueHeads}, storage(), init(qt::InitKind::Ones));
}

} // namespace qcc::qwen
