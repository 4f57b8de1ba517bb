// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hidden states and gradients of an ordinary run, copied out by the program's debug table and written as safetensors. Nothing else changes.
#ifndef RUNTIME_TRAIN_DUMP_H
#define RUNTIME_TRAIN_DUMP_H

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/data/Safetensors.h"
#include "runtime/device/Device.h"

namespace qrt {

/// Tensors gathered in memory and written to one file, in the order they came.
class TensorDump {
public:
  void add(TensorSpec spec, std::span<const std::byte> bytes);
  /// Writes them to DIRECTORY/`name`.safetensors, creating the directory, and forgets them.
  Status write(const std::string &directory, const std::string &name);

private:
  std::vector<TensorSpec> specs_;
  std::vector<std::vector<std::byte>> bytes_;
};

/// Copies every hidden state: "hidden.I", [tokens of the bucket, hidden].
class HiddenDump : public Observer {
public:
  bool wants(const DebugValue &value) override { return !value.isGradient; }
  Status observe(const DebugValue &value, const TensorShape &shape, std::span<const std::byte> bytes) override;
  TensorDump &tensors() { return tensors_; }

private:
  TensorDump tensors_;
};

/// Copies every parameter's gradient under its preferred checkpoint name; members of a pack one by one.
class GradientDump : public Observer {
public:
  explicit GradientDump(const Program &program) : program_(program) {}
  bool wants(const DebugValue &value) override { return value.isGradient; }
  Status observe(const DebugValue &value, const TensorShape &shape, std::span<const std::byte> bytes) override;
  TensorDump &tensors() { return tensors_; }

private:
  const Program &program_;
  TensorDump tensors_;
};

} // namespace qrt

#endif // RUNTIME_TRAIN_DUMP_H
