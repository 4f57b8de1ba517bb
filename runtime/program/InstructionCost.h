// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_PROGRAM_INSTRUCTIONCOST_H
#define RUNTIME_PROGRAM_INSTRUCTIONCOST_H

#include "runtime/cost/MachineRates.h"
#include "runtime/program/Program.h"

namespace qrt {

/// What an instruction of an entry has to do (runtime/cost/Cost.h). `longest` stands for the length of the bucket's
/// longest document in the formulas of the catalog.
Cost instructionCost(const Entry &entry, const Instruction &instruction, int64_t longest);
inline Cost instructionCost(const Entry &entry, const Instruction &instruction) {
  return instructionCost(entry, instruction, entry.bucket.longest);
}

/// What the matrix products of an instruction are in: bf16 where an argument is, else f32.
DType instructionStorage(const Entry &entry, const Instruction &instruction);
/// The same of an entry, where one instruction in bf16 is enough.
DType entryStorage(const Entry &entry);

/// Seconds below which no machine of these rates does it, and seconds that it is expected to take.
double floorSeconds(const MachineRates &rates, const Entry &entry, const Instruction &instruction, const Cost &cost);
double predictedSeconds(const MachineRates &rates, const Entry &entry, const Instruction &instruction,
                        const Cost &cost);

} // namespace qrt

#endif // RUNTIME_PROGRAM_INSTRUCTIONCOST_H
