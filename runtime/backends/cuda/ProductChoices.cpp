// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/ProductChoices.h"

#include "runtime/base/Json.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace qrt::cuda {
namespace {

constexpr std::pair<ProductChoice::Reason, std::string_view> kReasons[] = {{ProductChoice::Reason::Timed, "timed"},
                                                                           {ProductChoice::Reason::First, "first"},
                                                                           {ProductChoice::Reason::Given, "given"}};

/// 8 numbers of 16 hexadecimal digits.
std::string printAlgorithm(const LtAlgorithm &algorithm) {
  std::string text;
  for (uint64_t word : algorithm.data)
    text += fmt::format("{:016x}", word);
  return text;
}

std::optional<LtAlgorithm> parseAlgorithm(std::string_view text) {
  constexpr size_t kDigits = 16;
  LtAlgorithm algorithm;
  if (text.size() != kDigits * std::size(algorithm.data))
    return std::nullopt;
  for (size_t i = 0; i < std::size(algorithm.data); ++i) {
    std::string_view word = text.substr(kDigits * i, kDigits);
    auto [end, code] = std::from_chars(word.data(), word.data() + kDigits, algorithm.data[i], 16);
    if (code != std::errc() || end != word.data() + kDigits)
      return std::nullopt;
  }
  return algorithm;
}

std::optional<ProductChoice> parseChoice(const Json &value) {
  if (!value.is_object() || value.size() != 2 || !value.contains("algorithm") || !value.contains("reason") ||
      !value["algorithm"].is_string() || !value["reason"].is_string())
    return std::nullopt;
  std::optional<LtAlgorithm> algorithm = parseAlgorithm(value["algorithm"].get_ref<const std::string &>());
  auto reason = std::find_if(std::begin(kReasons), std::end(kReasons), [&](const auto &known) {
    return known.second == value["reason"].get_ref<const std::string &>();
  });
  if (!algorithm || reason == std::end(kReasons))
    return std::nullopt;
  return ProductChoice{*algorithm, reason->first};
}

} // namespace

bool operator==(const LtAlgorithm &a, const LtAlgorithm &b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

StatusOr<ProductChoices> ProductChoices::parse(std::string_view text, const std::string &source) {
  QRT_ASSIGN_OR_RETURN(Json file, parseJson(text, source));
  auto isText = [&](const char *member) { return file.contains(member) && file[member].is_string(); };
  if (!file.is_object() || !isText("gpu") || !isText("library") || !file.contains("products") ||
      !file["products"].is_object())
    return error(StatusCode::InvalidData,
                 "{}: expected an object with the texts gpu and library and the object products", source);
  ProductChoices choices(file["gpu"].get<std::string>(), file["library"].get<std::string>());
  for (const auto &[name, value] : file["products"].items()) {
    std::optional<ProductChoice> choice = parseChoice(value);
    if (!choice)
      return error(
          StatusCode::InvalidData,
          "{}: product {}: expected an algorithm of 128 hexadecimal digits and a reason (timed, first or given)",
          source, quoteForMessage(name));
    choices.set(name, *choice);
  }
  return choices;
}

std::string ProductChoices::print() const {
  Json products = Json::object();
  for (const auto &[name, choice] : choices_)
    products[name] = {{"algorithm", printAlgorithm(choice.algorithm)},
                      {"reason", std::string(kReasons[static_cast<int>(choice.reason)].second)}};
  return Json{{"gpu", gpu_}, {"library", library_}, {"products", std::move(products)}}.dump(1) + "\n";
}

Status ProductChoices::checkSameMachine(const ProductChoices &machine, const std::string &source) const {
  if (gpu_ == machine.gpu_ && library_ == machine.library_)
    return Status();
  return error(StatusCode::Unsupported,
               "{}: its algorithms are of {} with {}, but this machine has {} with {}: other algorithms, other bits",
               source, quoteForMessage(gpu_), quoteForMessage(library_), machine.gpu_, machine.library_);
}

const ProductChoice *ProductChoices::find(const std::string &name) const {
  auto found = choices_.find(name);
  return found == choices_.end() ? nullptr : &found->second;
}

} // namespace qrt::cuda
