// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime asks of a compiler in the same process, if there is one: programs for further buckets. The compiler
// implements it, the tool wires it.
#ifndef RUNTIME_SPECIALIZE_H
#define RUNTIME_SPECIALIZE_H

#include "runtime/base/BucketShape.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qrt {

class Program;

/// The choices of a build, as on the command line of `qcc build`; empty: the default.
struct CompileOptions {
  std::string states, remat, target;
  /// Bytes of the device's memory that a run of one micro-batch a step may take.
  std::optional<int64_t> memory;
};

class Specializer {
public:
  virtual ~Specializer() = default;
  /// The bytes of a program of a module's file (of any phase) for these buckets.
  virtual StatusOr<std::vector<uint8_t>> compile(const std::string &path, const std::vector<BucketShape> &buckets,
                                                 const CompileOptions &options) = 0;
  /// The bytes of a program of the same model, options and state as `program`, with the entries for `bucket`.
  virtual StatusOr<std::vector<uint8_t>> specialize(const Program &program, const BucketShape &bucket) = 0;
  /// Functions of a GPU that had to be compiled for these programs, so far: not those that were there, in the program
  /// or in the cache on disk.
  virtual int64_t compiledFunctions() const { return 0; }
};

} // namespace qrt

#endif // RUNTIME_SPECIALIZE_H
