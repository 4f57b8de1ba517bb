// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/ExplainText.h"

#include "compiler/Scope.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace qcc {

static constexpr int kLineWidth = 112;

StringRef withoutDialect(StringRef op) {
  op.consume_front("qt.");
  return op;
}

std::string countNames(ArrayRef<StringRef> names) {
  MapVector<StringRef, int> counts;
  for (StringRef name : names)
    ++counts[name];
  std::string text;
  raw_string_ostream out(text);
  interleaveComma(counts, out, [&](const auto &entry) {
    if (entry.second > 1)
      out << entry.second << ' ';
    out << entry.first;
  });
  return text;
}

void printWrapped(raw_ostream &out, StringRef text, int column, int indent) {
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  bool first = true;
  for (StringRef word : words) {
    int length = static_cast<int>(word.size());
    if (!first && column + 1 + length > kLineWidth) {
      out << "\n" << std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out << ' ';
      ++column;
    }
    out << word;
    column += length;
    first = false;
  }
  out << "\n";
}

std::string nameUnits(ArrayRef<StringRef> units) {
  if (units.size() == 1)
    return (units.front().empty() ? "without a scope" : units.front()).str();
  std::string text;
  raw_string_ostream out(text);
  StringRef series;
  for (size_t i = 0; i < units.size();) {
    ScopeParts first = splitScope(units[i++]);
    out << (i > 1 ? ", " : "");
    if (!first.number) {
      out << first.unit;
      series = {};
      continue;
    }
    unsigned to = *first.number;
    while (i < units.size() && splitScope(units[i]).series == first.series && splitScope(units[i]).number == to + 1) {
      ++to;
      ++i;
    }
    if (first.series != series)
      out << first.series << ' ';
    out << *first.number;
    if (to > *first.number)
      out << '-' << to;
    series = first.series;
  }
  return text;
}

std::string printAmount(double amount) {
  if (amount == 0)
    return "-";
  if (amount < 5e-7)
    return "<0.000001";
  int digits = std::clamp(2 - static_cast<int>(std::floor(std::log10(amount))), 0, 6);
  std::string text;
  raw_string_ostream(text) << format("%.*f", digits, amount);
  return text;
}

} // namespace qcc
