// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/cuda/CatalogCalls.h"

#include "runtime/base/SegmentTable.h"
#include "runtime/kernels/Signature.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace qrt::cuda::test {
namespace {

// Name, published, vectors, h, I, V, H, G, D, rotary, K, W, dk, dv, taps.
constexpr ModelWidths kModels[] = {
    {"0.8B", true, true, 1024, 3584, 248320, 8, 2, 256, 64, 16, 16, 128, 128, 4},
    {"2B", true, true, 2048, 6144, 248320, 8, 2, 256, 64, 16, 16, 128, 128, 4},
    {"4B", true, true, 2560, 9216, 248320, 16, 4, 256, 64, 16, 32, 128, 128, 4},
    {"9B", true, true, 4096, 12288, 248320, 16, 4, 256, 64, 16, 32, 128, 128, 4},
    {"27B", true, true, 5120, 17408, 248320, 24, 4, 256, 64, 16, 48, 128, 128, 4},
    {"heads of 128", true, true, 4096, 12288, 248320, 32, 8, 128, 32, 16, 32, 128, 128, 4},
    {"heads of 64", true, true, 2048, 6144, 248320, 32, 8, 64, 16, 16, 16, 128, 128, 4},
    {"tiny_long", false, true, 64, 128, 384, 2, 1, 64, 16, 4, 4, 16, 16, 4},
    {"tiny_tied", false, true, 64, 192, 512, 4, 1, 64, 16, 2, 4, 32, 32, 4},
    {"tiny_untied", false, true, 64, 160, 512, 4, 2, 32, 8, 2, 6, 16, 16, 4},
    {"wide_r3", false, true, 128, 192, 256, 3, 1, 256, 64, 1, 3, 128, 128, 4},
    {"demo", false, true, 288, 896, 2048, 4, 2, 64, 16, 4, 8, 32, 32, 4},
    {"rows of single elements", false, false, 36, 100, 131, 3, 1, 20, 10, 2, 6, 12, 20, 3},
};

// The last one holds any rows of so many tokens: more documents than a grid has blocks along y.
constexpr BucketShape kBuckets[] = {
    {8192, 12, 1032, 8192}, {2048, 1, 2048, 1024}, {100, 3, 64, 70}, {131072, 131072, 131072, 131072}};

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(1);
}

/// Cuts `text` at the first `separator`: returns what stands before it and leaves what stands after.
std::string_view nextItem(std::string_view &text, char separator) {
  size_t end = std::min(text.find(separator), text.size());
  std::string_view item = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return item;
}

/// Element types that an argument may have: the alternatives before '['.
std::vector<DType> dtypesOf(std::string_view type, DType md) {
  std::vector<DType> dtypes;
  for (std::string_view names = nextItem(type, '['); !names.empty();) {
    std::string_view name = nextItem(names, '|');
    DType dtype = DType::I32; // ids, order, labels
    if (name == "md")
      dtype = md;
    else if (name == "f32")
      dtype = DType::F32;
    else if (name == "bf16")
      dtype = DType::BF16;
    else if (name == "i64")
      dtype = DType::I64;
    else if (name != "docs" && name != "ids" && name != "order" && name != "labels")
      fail(fmt::format("the catalog has an element type '{}' that this test does not know", name));
    if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end())
      dtypes.push_back(dtype);
  }
  return dtypes;
}

class CallMaker {
public:
  CallMaker(Kernel kernel, const ModelWidths &model, DType md, const BucketShape &bucket)
      : info_(kernelInfo(kernel)), model_(model), call_{kernel, &model, md, bucket, false, {}, {}, {}, std::nullopt} {
    for (const ParamInfo &param : info_.params)
      call_.params.push_back(paramOf(param.name));
  }

  /// `weight`: the shape for arguments of any shape.
  void run(std::span<const int64_t> weight, bool columns, const std::function<void(const CatalogCall &)> &use) {
    weight_ = weight;
    call_.columns = columns;
    if (info_.hasParamList) {
      // The members of a pack: here one.
      call_.params.resize(info_.params.size());
      call_.params.push_back({.i = 1});
      call_.params.push_back({.i = denseShape(DType::F32, weight).elements()});
    }
    choose(0, use);
  }

private:
  int64_t extent(std::string_view name) const {
    if (name[0] >= '0' && name[0] <= '9') {
      int64_t number = 0;
      std::from_chars(name.data(), name.data() + name.size(), number);
      return number;
    }
    const std::pair<std::string_view, int64_t> extents[] = {{"T", call_.bucket.tokens},
                                                            {"R", call_.bucket.trained},
                                                            {"h", model_.h},
                                                            {"I", model_.I},
                                                            {"V", model_.V},
                                                            {"H", model_.H},
                                                            {"G", model_.G},
                                                            {"D", model_.D},
                                                            {"K", model_.K},
                                                            {"W", model_.W},
                                                            {"dk", model_.dk},
                                                            {"dv", model_.dv},
                                                            {"taps", model_.taps},
                                                            {"C", 2 * model_.K * model_.dk + model_.W * model_.dv}};
    for (auto [letter, value] : extents)
      if (letter == name)
        return value;
    fail(fmt::format("kernel {}: the catalog has an extent '{}' that this test does not know", info_.name, name));
  }

  ParamValue paramOf(std::string_view name) const {
    if (name == "eps")
      return {.f = 1e-6};
    if (name == "theta")
      return {.f = 1e7};
    if (name == "scale")
      return {.f = 1 / std::sqrt(static_cast<double>(model_.D))};
    if (name == "rotary_dims")
      return {.i = model_.rotary};
    if (name == "decay")
      return {.i = 1};
    fail(fmt::format("kernel {}: the catalog has a parameter '{}' that this test does not know", info_.name, name));
  }

  TensorShape shapeOf(std::string_view type, DType dtype) const {
    if (type == "docs")
      return denseShape(DType::I32, std::array{SegmentLayout{call_.bucket}.size()});
    nextItem(type, '[');
    type.remove_suffix(1);
    std::vector<int64_t> dims;
    bool tokens = type.starts_with("T,") || type.starts_with("R,");
    while (!type.empty()) {
      std::string_view name = nextItem(type, ',');
      if (name == "any" || name == "shape...")
        dims.insert(dims.end(), weight_.begin(), weight_.end());
      else if (name != "row...")
        dims.push_back(extent(name));
      else if (dtype != DType::I32) // labels have no rows
        dims.push_back(model_.h);
    }
    TensorShape shape = denseShape(dtype, dims);
    if (tokens && call_.columns)
      shape.strides[0] += model_.vectors ? 64 : 1;
    return shape;
  }

  /// Each operation once, of the input or what was computed last; every result is the last value.
  static Expression everyOperation(std::span<const Tensor> results) {
    Expression expression;
    for (int op = 0; op < kNumExpressionOps; ++op) {
      ExpressionStep step{static_cast<ExpressionOp>(op), static_cast<uint16_t>(op)};
      step.constant = expressionOpInfo(step.op).hasConstant ? 0.5 : 0;
      expression.steps.push_back(step);
    }
    for (const Tensor &result : results)
      if (result)
        expression.results.push_back(kNumExpressionOps);
    return expression;
  }

  /// Calls that checkCall takes and yet no program makes; of clusters, as many as say something about the others.
  bool isMade() const {
    if (call_.kernel == Kernel::Pointwise) {
      auto results = std::span(call_.args).first(kMaxExpressionResults);
      bool oneType =
          std::ranges::all_of(results, [&](const Tensor &result) { return !result || result.shape.dtype == call_.md; });
      return oneType && static_cast<bool>(results[1]) == static_cast<bool>(results[kMaxExpressionResults - 1]);
    }
    if (call_.kernel == Kernel::QkNormRope || call_.kernel == Kernel::QkNormRopeGrad)
      return call_.args[3].shape.dtype == call_.args[4].shape.dtype; // both norms of a layer have one type
    return true;
  }

  void finish(const std::function<void(const CatalogCall &)> &use) {
    if (call_.kernel == Kernel::Pointwise)
      call_.expression = everyOperation(std::span(call_.args).first(kMaxExpressionResults));
    std::vector<std::optional<TensorShape>> shapes;
    for (const Tensor &arg : call_.args)
      shapes.push_back(arg ? std::optional(arg.shape) : std::nullopt);
    if (isMade() &&
        checkCall(call_.kernel, shapes, call_.effects, call_.params, call_.bucket, call_.expressionOrNull()).ok())
      use(call_);
  }

  /// Goes through all choices for argument `arg` and those after it.
  void choose(size_t arg, const std::function<void(const CatalogCall &)> &use) {
    if (arg == info_.args.size())
      return finish(use);
    const ArgInfo &info = info_.args[arg];
    auto with = [&](const Tensor &tensor, ArgEffect effect) {
      call_.args.push_back(tensor);
      call_.effects.push_back(effect);
      choose(arg + 1, use);
      call_.args.pop_back();
      call_.effects.pop_back();
    };
    if (isOptional(info.effect))
      with(Tensor(), ArgEffect::Read);
    for (DType dtype : dtypesOf(info.type, call_.md)) {
      // Far apart, and aligned as the arena's buffers are.
      Tensor tensor{shapeOf(info.type, dtype), DevicePtr{1} << 40 << arg};
      if (isAccumulate(info.effect)) {
        with(tensor, ArgEffect::Write);
        with(tensor, ArgEffect::InOut);
      } else {
        bool updated = info.effect == ArgEffect::InOut || info.effect == ArgEffect::InOutOptional;
        with(tensor, isRead(info.effect) ? ArgEffect::Read : updated ? ArgEffect::InOut : ArgEffect::Write);
      }
    }
  }

  const KernelInfo &info_;
  const ModelWidths &model_;
  std::span<const int64_t> weight_;
  CatalogCall call_;
};

} // namespace

std::span<const ModelWidths> modelWidths() { return kModels; }
std::span<const BucketShape> callBuckets() { return kBuckets; }

std::string CatalogCall::print() const {
  std::string text(kernelInfo(kernel).name);
  std::string_view separator = "(";
  for (const Tensor &arg : args) {
    text.append(separator).append(arg ? printShape(arg.shape) : "-");
    separator = ", ";
  }
  return fmt::format("{}) of {} in {}, bucket {}{}", text, model->name, dtypeName(md), printBucket(bucket),
                     columns ? ", columns of wider rows" : "");
}

void forEachCall(Kernel kernel, const ModelWidths &model, const std::function<void(const CatalogCall &)> &use) {
  const std::vector<int64_t> weights[] = {{model.h, model.I}, {model.h}, {model.W}, {model.D, 1, model.taps}};
  bool anyShape = false;
  for (const ArgInfo &arg : kernelInfo(kernel).args)
    anyShape = anyShape || arg.type.ends_with("[any]") || arg.type.ends_with("[shape...]");
  for (DType md : {DType::F32, DType::BF16})
    for (const BucketShape &bucket : kBuckets)
      for (bool columns : {false, true})
        for (const std::vector<int64_t> &weight : std::span(weights).first(anyShape ? std::size(weights) : 1))
          CallMaker(kernel, model, md, bucket).run(weight, columns, use);
}

} // namespace qrt::cuda::test
