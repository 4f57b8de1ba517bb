// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/Report.h"

#include "runtime/base/Digits.h"
#include "runtime/base/Json.h"
#include "runtime/kernels/Signature.h"
#include "runtime/program/InstructionCost.h"
#include "runtime/program/Memory.h"

#include <algorithm>
#include <map>

namespace qrt {
namespace {

class ReportWriter {
public:
  explicit ReportWriter(const Program &program) : program_(program) {}

  std::string run(bool instructions) {
    header();
    parameters();
    text_ += "\n" + memoryReport(program_);
    for (const Entry &entry : program_.entries())
      describe(entry, instructions);
    return std::move(text_);
  }

private:
  template <typename... Args> void line(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void header() {
    line("{}: program of version {}.{} for {}, built by {}", program_.source(), program_.version().major,
         program_.version().minor, quoteForMessage(program_.target()), quoteForMessage(program_.producer()));
    for (const std::string &option : program_.options())
      line("  option {}", quoteForMessage(option));
    line("  vocabulary {}, model {} bytes", groupDigits(program_.vocabulary()),
         groupDigits(static_cast<int64_t>(program_.model().size())));
  }

  void parameters() {
    int64_t elements = 0, trained = 0;
    size_t width = 4;
    for (const Parameter &parameter : program_.parameters()) {
      elements += parameter.elements;
      trained += parameter.frozen ? 0 : parameter.elements;
      width = std::max(width, std::min<size_t>(parameter.name.size(), 60));
    }
    line("\n{} with {}, {} of them trained", countOf(static_cast<int64_t>(program_.parameters().size()), "parameter"),
         countOf(elements, "element"), groupDigits(trained));
    line("  {:{}}  {:18}  {:6}  {:8}  {:6}  {:7}  {:5}  {}", "name", width, "shape", "weight", "gradient", "master",
         "moments", "decay", "pack");
    for (const Parameter &parameter : program_.parameters()) {
      auto type = [&](ParameterPart part) {
        return parameter.part(part) ? dtypeName(parameter.part(part)->dtype) : "-";
      };
      line("  {:{}}  {:18}  {:6}  {:8}  {:6}  {:7}  {:5}  {}", parameter.name, width,
           fmt::format("{}", fmt::join(parameter.shape, "x")), type(ParameterPart::Weight),
           type(ParameterPart::Gradient), type(ParameterPart::Master), type(ParameterPart::ExpAvg),
           parameter.frozen  ? "frozen"
           : parameter.decay ? "yes"
                             : "no",
           parameter.pack < 0 ? "-" : program_.packs()[static_cast<size_t>(parameter.pack)].name);
    }
  }

  void describe(const Entry &entry, bool instructions) {
    // By name: the same order for every program.
    std::map<std::string_view, std::pair<int64_t, double>> kinds;
    double all = 0;
    for (const Instruction &instruction : entry.instructions) {
      auto &[count, sum] = kinds[instructionName(instruction)];
      double its = instructionCost(entry, instruction).flops;
      ++count;
      sum += its;
      all += its;
    }
    line("\nentry {}: {}, {:.3g} FLOP, transient {}, io {}", entry.name(),
         countOf(static_cast<int64_t>(entry.instructions.size()), "instruction"), all, printBytes(entry.transientBytes),
         printBytes(entry.ioBytes));
    line("  {:26}  {:>6}  {:>10}", "kernel", "calls", "FLOP");
    for (const auto &[name, kind] : kinds)
      line("  {:26}  {:6}  {:10.3g}", name, kind.first, kind.second);
    if (!entry.debug.empty())
      line("  {} that can be dumped", countOf(static_cast<int64_t>(entry.debug.size()), "value"));
    if (!instructions)
      return;
    for (size_t i = 0; i < entry.instructions.size(); ++i) {
      const Instruction &instruction = entry.instructions[i];
      line("  {:5}  {:26}  {}{}", i, instructionName(instruction),
           instruction.scope.empty() ? "-" : quoteForMessage(instruction.scope),
           instruction.recomputed ? "  (recomputed)" : "");
      operands(entry, instruction);
    }
  }

  void operand(const Entry &entry, std::string_view name, ArgEffect effect, int32_t index) {
    const Slice &slice = entry.slices[static_cast<size_t>(index)];
    std::string strides;
    if (!isDense(slice.shape))
      strides =
          fmt::format(" strides [{}]", fmt::join(slice.shape.strides, slice.shape.strides + slice.shape.rank, ", "));
    std::string_view direction = effect == ArgEffect::Read    ? "reads"
                                 : effect == ArgEffect::Write ? "writes"
                                                              : "updates";
    line("           {:7} {:14} {} + {}: {}{}", direction, name, spaceName(slice.space), slice.offset,
         printShape(slice.shape), strides);
  }

  /// Values are numbered through the inputs and the steps.
  void expression(const Expression &expression, int64_t inputs) {
    for (size_t i = 0; i < expression.steps.size(); ++i)
      line("           value   {}", printStep(expression, i, inputs));
    line("           results {}", fmt::join(expression.results, ", "));
  }

  void operands(const Entry &entry, const Instruction &instruction) {
    if (const Launch *launch = std::get_if<Launch>(&instruction.work)) {
      const KernelInfo &info = kernelInfo(launch->kernel);
      for (size_t i = 0; i < launch->slices.size(); ++i)
        if (launch->slices[i] >= 0)
          operand(entry, info.arg(i).name, launch->effects[i], launch->slices[i]);
      for (size_t i = 0; i < launch->params.size(); ++i) {
        bool isNamed = i < info.params.size();
        if (isNamed && info.params[i].type == ParamType::Float)
          line("           with    {} = {}", info.params[i].name, launch->params[i].f);
        else
          line("           with    {} = {}", isNamed ? info.params[i].name : "...", launch->params[i].i);
      }
      if (launch->expression)
        expression(*launch->expression, static_cast<int64_t>(launch->slices.size()) - kMaxExpressionResults);
    } else if (const Gemm *gemm = std::get_if<Gemm>(&instruction.work)) {
      operand(entry, gemm->transposeA ? "a transposed" : "a", ArgEffect::Read, gemm->a);
      operand(entry, gemm->transposeB ? "b transposed" : "b", ArgEffect::Read, gemm->b);
      operand(entry, "c", gemm->accumulate ? ArgEffect::InOut : ArgEffect::Write, gemm->c);
    } else if (const Copy *copy = std::get_if<Copy>(&instruction.work)) {
      operand(entry, "source", ArgEffect::Read, copy->source);
      operand(entry, "target", ArgEffect::Write, copy->target);
    } else {
      operand(entry, "target", ArgEffect::Write, std::get<Fill>(instruction.work).target);
    }
  }

  const Program &program_;
  std::string text_;
};

} // namespace

std::string programReport(const Program &program, bool instructions) { return ReportWriter(program).run(instructions); }

} // namespace qrt
