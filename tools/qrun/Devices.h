// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TOOLS_QRUN_DEVICES_H
#define TOOLS_QRUN_DEVICES_H

#include "runtime/device/Device.h"

#include <CLI/CLI.hpp>

namespace qrt {

/// Where programs run, and how.
struct DeviceArguments {
  int threads = 0;
  /// "native" or "widened"; empty: native where the processor can.
  std::string bf16Products;
  int gpu = 0;
  std::string launch = "graph", products;
  bool poison = false;
};

void addDeviceOptions(CLI::App &command, DeviceArguments &arguments);

/// A device for the target that the program is compiled for. Unsupported, naming what is missing, where the machine or
/// this build has none.
StatusOr<std::unique_ptr<Device>> openDevice(const Program &program, const DeviceArguments &arguments);

} // namespace qrt

#endif // TOOLS_QRUN_DEVICES_H
