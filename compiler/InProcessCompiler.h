// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef COMPILER_INPROCESSCOMPILER_H
#define COMPILER_INPROCESSCOMPILER_H

#include "runtime/base/Status.h"
#include "runtime/specialize.h"

namespace qcc {

/// The compiler as a plug-in of the runtime: a program of a module's file, or of a further bucket of a program.
class InProcessCompiler : public qrt::Specializer {
public:
  qrt::StatusOr<std::vector<uint8_t>> compile(const std::string &path, const std::vector<qrt::BucketShape> &buckets,
                                              const qrt::CompileOptions &options) override;
  qrt::StatusOr<std::vector<uint8_t>> specialize(const qrt::Program &program, const qrt::BucketShape &bucket) override;
  int64_t compiledFunctions() const override { return compiledFunctions_; }

private:
  int64_t compiledFunctions_ = 0;
};

} // namespace qcc

#endif // COMPILER_INPROCESSCOMPILER_H
