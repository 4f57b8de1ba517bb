// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hidden states and gradients out of an ordinary run: what --dump-hidden and --dump-grads write.
#ifndef RUNTIME_EXECUTOR_DEBUGDUMP_H
#define RUNTIME_EXECUTOR_DEBUGDUMP_H

#include "runtime/data/Safetensors.h"
#include "runtime/device/Device.h"

#include <map>

namespace qrt {

/// Copies all values of one kind of a run.
class DebugDump : public Observer {
public:
  enum class Kind { Hidden, Gradients };

  /// The program must outlive the dump.
  DebugDump(const Program &program, Kind kind) : program_(program), kind_(kind) {}

  bool wants(const DebugValue &value) override;
  Status observe(const DebugValue &value, const TensorShape &shape, std::span<const std::byte> bytes) override;

  /// Adds a gradient that was read elsewhere: of micro-batches, before it is applied.
  void addParameter(const Parameter &parameter, DType dtype, std::span<const std::byte> bytes);

  /// Writes what was seen as a safetensors file, sorted by name, each value in its own type, and forgets it. Gradients
  /// have the preferred checkpoint names of their parameters, also where a pack has them; a hidden state has its own.
  Status write(const std::string &path);

private:
  struct Value {
    TensorSpec spec;
    std::vector<uint8_t> bytes;
  };
  void add(TensorSpec spec, std::span<const std::byte> bytes);

  const Program &program_;
  Kind kind_;
  std::map<std::string, Value> values_;
};

} // namespace qrt

#endif // RUNTIME_EXECUTOR_DEBUGDUMP_H
