// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU as a device: spaces are memory of the process, instructions are calls.
#ifndef RUNTIME_BACKENDS_CPU_CPUDEVICE_H
#define RUNTIME_BACKENDS_CPU_CPUDEVICE_H

#include "runtime/device/Device.h"

namespace qrt::cpu {

struct CpuDeviceOptions {
  /// In all, the caller's included; 0: one for each processor that the process may use.
  int threads = 0;
  /// Fills everything reserved with 0xFF (NaN, -1), and before every run the transient space, the kernels' scratch and
  /// the results again: a value that nobody wrote shows.
  bool poison = false;
};

std::unique_ptr<Device> createCpuDevice(const CpuDeviceOptions &options = {});

} // namespace qrt::cpu

#endif // RUNTIME_BACKENDS_CPU_CPUDEVICE_H
