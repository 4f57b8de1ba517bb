// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hidden states and gradients out of an ordinary run: what --dump-hidden and --dump-grads write.
#ifndef RUNTIME_EXECUTOR_DEBUGDUMP_H
#define RUNTIME_EXECUTOR_DEBUGDUMP_H

#include "runtime/data/Safetensors.h"
#include "runtime/device/Device.h"

#include <functional>
#include <map>

namespace qrt {

/// Copies all values of one kind of a run.
class DebugDump : public Observer {
public:
  enum class Kind { Hidden, Gradients };

  /// `nameOf` gives the name that a parameter's gradient has in the file; null: its preferred checkpoint name. The
  /// program must outlive the dump.
  DebugDump(const Program &program, Kind kind, std::function<std::string(const Parameter &)> nameOf = nullptr);

  bool wants(const DebugValue &value) override;
  Status observe(const DebugValue &value, const TensorShape &shape, std::span<const std::byte> bytes) override;

  /// Adds a gradient that was read elsewhere: of micro-batches, before it is applied.
  void addParameter(const Parameter &parameter, DType dtype, std::span<const std::byte> bytes);

  /// Writes what was seen as a safetensors file, sorted by name, each value in its own type (a pack's gradient as those
  /// of its members, a hidden state's under its own name), and forgets it.
  Status write(const std::string &path);

private:
  struct Value {
    TensorSpec spec;
    std::vector<uint8_t> bytes;
  };
  void add(TensorSpec spec, std::span<const std::byte> bytes);

  const Program &program_;
  Kind kind_;
  std::function<std::string(const Parameter &)> nameOf_;
  std::map<std::string, Value> values_;
};

} // namespace qrt

#endif // RUNTIME_EXECUTOR_DEBUGDUMP_H
