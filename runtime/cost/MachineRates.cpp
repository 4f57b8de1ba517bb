// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cost/MachineRates.h"

#include "runtime/base/File.h"
#include "runtime/base/Json.h"

#include <algorithm>

namespace qrt {
namespace {

/// A kernel that nothing is known of: what a memory-bound one is meant to reach.
constexpr double kMeantFraction = 0.8;

void set(MachineRates &rates, std::initializer_list<std::pair<Kernel, double>> fractions) {
  for (auto &[kernel, fraction] : fractions)
    rates.kernels[static_cast<size_t>(kernel)] = fraction;
}

MachineRates gpuRates() {
  MachineRates rates;
  rates.target = "sm_90a";
  rates.machine = "NVIDIA H200";
  rates.copyRate = 4.28e12;
  rates.launchSeconds = 4e-6;
  // The fractions are those inside a step, where the GPU is limited by its power.
  rates.bf16 = {750e12, {0.93, 0.89, 0.91}};
  rates.f32 = {50e12, {0.9, 0.9, 0.9}};
  rates.kernels.fill(kMeantFraction);
  set(rates, {{Kernel::LinearCrossEntropy, 0.85},
              {Kernel::LinearCrossEntropyGrad, 0.89},
              {Kernel::AdamW, 0.94},
              {Kernel::GlobalNorm, 1.07},
              {Kernel::GatedDeltaRule, 0.4},
              {Kernel::GatedDeltaRuleGrad, 0.41},
              {Kernel::Attention, 0.36},
              {Kernel::AttentionGrad, 0.3},
              {Kernel::Swiglu, 0.98},
              {Kernel::SwigluGrad, 0.95},
              {Kernel::RmsNorm, 0.88},
              {Kernel::RmsNormGrad, 0.73},
              {Kernel::AddRmsNorm, 0.93},
              {Kernel::AddRmsNormGrad, 0.86},
              {Kernel::GatedDeltaInputs, 0.81},
              {Kernel::GatedDeltaInputsGrad, 0.64},
              {Kernel::GatedRmsNorm, 0.92},
              {Kernel::GatedRmsNormGrad, 0.83},
              {Kernel::QkNormRope, 0.82},
              {Kernel::QkNormRopeGrad, 0.67},
              {Kernel::Embedding, 0.76},
              {Kernel::EmbeddingGrad, 0.99},
              {Kernel::GatherRows, 0.87},
              {Kernel::ScatterRows, 0.84},
              {Kernel::Pointwise, 0.98}});
  return rates;
}

MachineRates cpuRates() {
  MachineRates rates;
  rates.target = "cpu";
  rates.machine = "two cores with AVX-512";
  rates.copyRate = 20e9;
  rates.launchSeconds = 5e-6;
  // bf16 as a processor multiplies it that has to widen it first.
  rates.bf16 = {440e9, {1, 1, 1}};
  rates.f32 = {460e9, {1, 1, 1}};
  rates.kernels.fill(0.5);
  set(rates, {{Kernel::LinearCrossEntropy, 0.9},
              {Kernel::LinearCrossEntropyGrad, 0.9},
              {Kernel::GatedDeltaRule, 0.8},
              {Kernel::GatedDeltaRuleGrad, 0.7},
              {Kernel::Attention, 0.8},
              {Kernel::AttentionGrad, 0.85}});
  return rates;
}

constexpr std::string_view kFormNames[kNumProductForms] = {"a_bt", "a_b", "at_b"};

/// Numbers of a file, checked; the first error stays.
class Reader {
public:
  Reader(const JsonObject &object, Status &status) : object_(object), status_(status) {}

  /// A number from `least` to `most`.
  void number(std::string_view key, double &value, double least, double most) {
    known_.push_back(key);
    if (!status_.ok())
      return;
    StatusOr<double> read = object_.number(std::string(key));
    if (!read.ok()) {
      status_ = std::move(read).status();
      return;
    }
    if (!(*read >= least && *read <= most))
      status_ = object_.fail(std::string(key), fmt::format("expected {} to {}, got {}", least, most, *read));
    value = *read;
  }
  /// A text that can stand in a message as it is.
  void text(std::string_view key, std::string &value) {
    known_.push_back(key);
    if (!status_.ok())
      return;
    StatusOr<std::string> read = object_.string(std::string(key));
    if (!read.ok())
      status_ = std::move(read).status();
    else if (std::string quoted = quoteForMessage(*read); quoted != fmt::format("'{}'", *read))
      status_ = object_.fail(std::string(key), fmt::format("expected a short line of text, got {}", quoted));
    else
      value = *read;
  }
  /// Reads an object by `read`.
  template <typename Read> void object(std::string_view key, Read read) {
    known_.push_back(key);
    if (!status_.ok())
      return;
    StatusOr<JsonObject> inner = object_.object(std::string(key));
    if (!inner.ok()) {
      status_ = std::move(inner).status();
      return;
    }
    Reader reader(*inner, status_);
    read(reader);
    reader.finish();
  }
  bool has(std::string_view key) const { return object_.has(std::string(key)); }
  /// To be called last: a key that nobody asked for is an error.
  void finish() {
    for (auto &[key, value] : object_.members())
      if (status_.ok() && std::find(known_.begin(), known_.end(), key) == known_.end())
        status_ = object_.fail(key, "unknown");
  }

private:
  const JsonObject &object_;
  Status &status_;
  std::vector<std::string_view> known_;
};

// Beyond any machine: what is less or more is a mistake in the file. Within them every prediction is finite.
constexpr double kLeastRate = 1, kMostRate = 1e18, kLeastSeconds = 1e-12, kMostSeconds = 1;

void readProducts(Reader &reader, MachineRates::Products &products) {
  reader.number("flops_per_second", products.rate, kLeastRate, kMostRate);
  for (size_t form = 0; form < kNumProductForms; ++form)
    reader.number(kFormNames[form], products.fractions[form], kLeastFraction, kMostFraction);
}

Json productsJson(const MachineRates::Products &products) {
  Json json = {{"flops_per_second", products.rate}};
  for (size_t form = 0; form < kNumProductForms; ++form)
    json[std::string(kFormNames[form])] = products.fractions[form];
  return json;
}

} // namespace

StatusOr<MachineRates> defaultMachineRates(std::string_view target) {
  if (target == "sm_90a")
    return gpuRates();
  if (target == "cpu")
    return cpuRates();
  return error(StatusCode::Unsupported, "no machine is known for the target {}", quoteForMessage(target));
}

StatusOr<MachineRates> parseMachineRates(std::string_view text, const std::string &source) {
  constexpr JsonLimits kLimits{.maxBytes = 1 << 20, .maxValues = 4096, .maxDepth = 8};
  QRT_ASSIGN_OR_RETURN(Json json, parseJson(text, source, kLimits));
  QRT_ASSIGN_OR_RETURN(JsonObject root, JsonObject::root(json, source));
  QRT_ASSIGN_OR_RETURN(std::string target, root.string("target"));
  StatusOr<MachineRates> known = defaultMachineRates(target);
  if (!known.ok())
    return root.fail("target", known.status().message());
  MachineRates rates = *std::move(known);
  Status status;
  Reader reader(root, status);
  reader.text("target", rates.target);
  reader.text("machine", rates.machine);
  reader.number("copy_bytes_per_second", rates.copyRate, kLeastRate, kMostRate);
  reader.number("launch_seconds", rates.launchSeconds, kLeastSeconds, kMostSeconds);
  reader.object("f32_products", [&](Reader &products) { readProducts(products, rates.f32); });
  reader.object("bf16_products", [&](Reader &products) { readProducts(products, rates.bf16); });
  reader.object("kernels", [&](Reader &kernels) {
    for (int kernel = 0; kernel < kNumKernels; ++kernel)
      if (std::string_view name = kernelInfo(static_cast<Kernel>(kernel)).name; kernels.has(name))
        kernels.number(name, rates.kernels[static_cast<size_t>(kernel)], kLeastFraction, kMostFraction);
  });
  reader.finish();
  QRT_RETURN_IF_ERROR(status);
  return rates;
}

StatusOr<MachineRates> readMachineRates(const std::string &path) {
  QRT_ASSIGN_OR_RETURN(std::string text, readFile(path, 1 << 20));
  return parseMachineRates(text, path);
}

std::string printMachineRates(const MachineRates &rates) {
  Json kernels = Json::object();
  for (int kernel = 0; kernel < kNumKernels; ++kernel)
    kernels[std::string(kernelInfo(static_cast<Kernel>(kernel)).name)] = rates.kernels[static_cast<size_t>(kernel)];
  Json json = {{"target", rates.target},
               {"machine", rates.machine},
               {"copy_bytes_per_second", rates.copyRate},
               {"launch_seconds", rates.launchSeconds},
               {"f32_products", productsJson(rates.f32)},
               {"bf16_products", productsJson(rates.bf16)},
               {"kernels", std::move(kernels)}};
  return json.dump(2) + "\n";
}

double floorSeconds(const MachineRates &rates, DType dtype, const Cost &cost) {
  return std::max(cost.flops / rates.products(dtype).rate, cost.bytes / rates.copyRate);
}

double predictedSeconds(const MachineRates &rates, Kernel kernel, DType dtype, const Cost &cost) {
  return rates.launchSeconds + floorSeconds(rates, dtype, cost) / rates.kernels[static_cast<size_t>(kernel)];
}

double predictedProductSeconds(const MachineRates &rates, ProductForm form, DType dtype, const Cost &cost) {
  return rates.launchSeconds +
         floorSeconds(rates, dtype, cost) / rates.products(dtype).fractions[static_cast<size_t>(form)];
}

double predictedCopySeconds(const MachineRates &rates, const Cost &cost) {
  return rates.launchSeconds + cost.bytes / rates.copyRate;
}

DType storageType(ArgShapes args) {
  bool isBf16 = std::any_of(args.begin(), args.end(), [](const auto &arg) { return arg && arg->dtype == DType::BF16; });
  return isBf16 ? DType::BF16 : DType::F32;
}

} // namespace qrt
