// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/KernelModules.h"

namespace qrt::cuda {

KernelModules::~KernelModules() {
  for (auto &[name, loaded] : loaded_)
    driver_->cuModuleUnload(loaded.module);
}

StatusOr<CUfunction> KernelModules::function(const DeviceLaunch &launch) {
  auto found = loaded_.find(launch.function);
  if (found == loaded_.end()) {
    QRT_ASSIGN_OR_RETURN(DeviceCode code, find_(launch.source, launch.function));
    Loaded loaded;
    QRT_RETURN_IF_ERROR(driver_.check(driver_->cuModuleLoadData(&loaded.module, code.image.data()), launch.function));
    if (CUresult result = driver_->cuModuleGetFunction(&loaded.function, loaded.module, code.symbol.c_str())) {
      driver_->cuModuleUnload(loaded.module);
      return driver_.check(result, launch.function);
    }
    // The driver reads as many bytes of parameters as the function says.
    size_t offset = 0, bytes = 0;
    CUresult result = driver_->cuFuncGetParamInfo(loaded.function, 0, &offset, &bytes);
    if (result || bytes != launch.params.size()) {
      driver_->cuModuleUnload(loaded.module);
      QRT_RETURN_IF_ERROR(driver_.check(result, launch.function));
      return error(StatusCode::InvalidData, "{}: its machine code takes {} bytes of parameters, expected {}",
                   launch.function, bytes, launch.params.size());
    }
    found = loaded_.emplace(launch.function, loaded).first;
  }
  Loaded &loaded = found->second;
  if (launch.sharedBytes > loaded.sharedBytes) {
    QRT_RETURN_IF_ERROR(
        driver_.check(driver_->cuFuncSetAttribute(loaded.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                  static_cast<int>(launch.sharedBytes)),
                      launch.function));
    loaded.sharedBytes = launch.sharedBytes;
  }
  return loaded.function;
}

} // namespace qrt::cuda
