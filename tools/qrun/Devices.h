// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TOOLS_QRUN_DEVICES_H
#define TOOLS_QRUN_DEVICES_H

#include "runtime/device/Device.h"

#include <CLI/CLI.hpp>
#include <optional>

namespace qrt {

/// Where programs run, and how: what the command line says. An option of the other device is an error (openDevice).
struct DeviceArguments {
  bool poison = false;
  /// Of the CPU; nothing: all threads, and bf16 products "native" where the processor can, else "widened".
  std::optional<int> threads;
  std::string bf16Products;
  /// Of a GPU; nothing: the first one, launch "graph".
  std::optional<int> gpu;
  std::string launch;
  /// The products.json of another run; nothing: none.
  std::string products;
};

void addDeviceOptions(CLI::App &command, DeviceArguments &arguments);

/// A device for the target that the program is compiled for. InvalidUsage, naming the option: a value out of range, or
/// an option of another device than the program's. Unsupported, naming what is missing, where the machine or this build
/// has none.
StatusOr<std::unique_ptr<Device>> openDevice(const Program &program, const DeviceArguments &arguments);

} // namespace qrt

#endif // TOOLS_QRUN_DEVICES_H
