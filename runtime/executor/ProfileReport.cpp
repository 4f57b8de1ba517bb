// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executor/ProfileReport.h"

#include "runtime/base/Json.h"
#include "runtime/program/InstructionCost.h"

#include <algorithm>

namespace qrt {
namespace {

/// "3.86"; a dash for what is 0 or unknown.
std::string amount(double value, int digits) { return value > 0 ? fmt::format("{:.{}f}", value, digits) : "-"; }

/// Rates of small machines too: three digits that say something.
std::string rate(double perSecond) { return perSecond > 0 ? fmt::format("{:.3g}", perSecond * 1e-12) : "-"; }

std::string line(const ProfileRow &row, size_t width, double run) {
  double seconds = row.milliseconds * 1e-3;
  return fmt::format("{:{}} {:5} {:5} {:9.3f} {:5.1f} {:>8} {:>8} {:>7} {:>9.3f}\n", row.name, width, row.calls,
                     row.works, row.milliseconds, 100 * row.milliseconds / run,
                     rate(seconds > 0 ? row.cost.flops / seconds : 0), rate(seconds > 0 ? row.cost.bytes / seconds : 0),
                     amount(row.floor > 0 ? row.milliseconds / row.floor : 0, 2), row.predicted);
}

/// Nothing for a device that has neither, such as a CPU.
std::string telemetryLine(const Telemetry &telemetry) {
  if (!telemetry.megahertz && !telemetry.watts)
    return "";
  auto text = [](const std::optional<double> &value, std::string_view unit) {
    return value ? fmt::format("{:.0f} {}", *value, unit) : "unknown";
  };
  return fmt::format("clock of its multiprocessors {}, power {}\n", text(telemetry.megahertz, "MHz"),
                     text(telemetry.watts, "W"));
}

Json orNull(double value) { return value > 0 ? Json(value) : Json(nullptr); }
Json orNull(const std::optional<double> &value) { return value ? Json(*value) : Json(nullptr); }

Json rowJson(const ProfileRow &row) {
  return {{"calls", row.calls},
          {"works", row.works},
          {"milliseconds", row.milliseconds},
          {"flops", row.cost.flops},
          {"bytes", row.cost.bytes},
          {"floor_milliseconds", orNull(row.floor)},
          {"predicted_milliseconds", row.predicted}};
}

} // namespace

std::string profileTable(const ProfileInput &input, const Profile &profile, std::string_view device) {
  size_t width = 8;
  for (const ProfileRow &row : profile.rows)
    width = std::max(width, row.name.size());
  std::string text = fmt::format("{:{}} {:>5} {:>5} {:>9} {:>5} {:>8} {:>8} {:>7} {:>9}\n", "class", width, "calls",
                                 "works", "ms", "%", "TFLOP/s", "TB/s", "x floor", "predicted");
  for (const ProfileRow &row : profile.rows)
    text += line(row, width, profile.run);
  ProfileRow sum = profile.sum;
  sum.name = "all";
  text += line(sum, width, profile.run);
  text += fmt::format("{:{}} {:5} {:5} {:9.3f} {:5.1f}\n", "idle", width, "", "", profile.idle,
                      100 * profile.idle / profile.run);

  text += fmt::format("\na run: {:.3f} ms, predicted {:.3f} by the rates of {}\n", profile.run, profile.sum.predicted,
                      input.machine.machine);
  if (profile.products > 0)
    text += fmt::format("its matrix products alone: {:.3f} ms; a run is {:.3f} times that\n", profile.products,
                        profile.run / profile.products);
  if (profile.trained + profile.real + profile.slots > 0)
    text += fmt::format("tokens a second: {:.0f} trained, {:.0f} real, {:.0f} slots\n", profile.trained, profile.real,
                        profile.slots);
  std::string_view storage = dtypeName(entryStorage(input.entry));
  text += fmt::format("arithmetic: {:.4g} TFLOP of the model", profile.modelFlops * 1e-12);
  if (profile.recomputedFlops > 0)
    text += fmt::format(", {:.4g} TFLOP recomputed", profile.recomputedFlops * 1e-12);
  if (profile.utilisation)
    text += fmt::format("\nMFU {:.1f} %: the model's alone, of the {:.1f} TFLOP/s that {} is made for in {}\n",
                        100 * *profile.utilisation, *profile.peak * 1e-12, device, storage);
  else
    text += fmt::format("\nMFU unknown: no peak is known of {} in {}\n", device, storage);
  text += fmt::format("measured just before: copy {} TB/s, matrix product {} TFLOP/s in {}\n",
                      rate(input.times.copyRate), rate(input.times.gemmRate), storage);
  return text + telemetryLine(input.times.telemetry);
}

std::string profileJson(const ProfileInput &input, const Profile &profile, std::string_view device) {
  Json rows = Json::array();
  for (const ProfileRow &row : profile.rows) {
    Json json = rowJson(row);
    json["class"] = row.name;
    rows.push_back(std::move(json));
  }
  Json json = {
      {"entry", input.entry.name()},
      {"device", device},
      {"classes", std::move(rows)},
      {"all", rowJson(profile.sum)},
      {"run_milliseconds", profile.run},
      {"idle_milliseconds", profile.idle},
      {"predicted_by", input.machine.machine},
      {"products_milliseconds", orNull(profile.products)},
      {"run_over_products", orNull(profile.products > 0 ? profile.run / profile.products : 0)},
      {"tokens_per_second", {{"trained", profile.trained}, {"real", profile.real}, {"slots", profile.slots}}},
      {"model_flops", profile.modelFlops},
      {"recomputed_flops", profile.recomputedFlops},
      {"peak_flops_per_second", orNull(profile.peak)},
      {"model_flops_utilisation", orNull(profile.utilisation)},
      {"copy_bytes_per_second", orNull(input.times.copyRate)},
      {"product_flops_per_second", orNull(input.times.gemmRate)},
      {"product_type", dtypeName(entryStorage(input.entry))},
      {"clock_megahertz", orNull(input.times.telemetry.megahertz)},
      {"power_watts", orNull(input.times.telemetry.watts)},
  };
  return json.dump(2) + "\n";
}

std::string instructionTable(const ProfileInput &input) {
  const Entry &entry = input.entry;
  std::string text = fmt::format("{:>5} {:>9} {:>9} {:>8} {:>8}  {:40} {}\n", "", "ms", "predicted", "TFLOP/s", "TB/s",
                                 "class", "scope");
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    const Instruction &instruction = entry.instructions[i];
    Cost cost = instructionCost(entry, instruction, input.row.equalLength(entry.bucket.tokens));
    double seconds = input.times.instructions[i] * 1e-3;
    text += fmt::format("{:5} {:9.4f} {:9.4f} {:>8} {:>8}  {:40} {}\n", i, input.times.instructions[i],
                        1e3 * predictedSeconds(input.machine, entry, instruction, cost),
                        rate(seconds > 0 ? cost.flops / seconds : 0), rate(seconds > 0 ? cost.bytes / seconds : 0),
                        className(entry, instruction), instruction.scope);
  }
  return text;
}

} // namespace qrt
