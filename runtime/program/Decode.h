// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of loading a program, each relying on the ones before.
#ifndef RUNTIME_PROGRAM_DECODE_H
#define RUNTIME_PROGRAM_DECODE_H

#include "runtime/program/Program.h"

namespace qrt {

namespace fb {
struct Program;
}

/// The root of a flatbuffer of this schema and a version that we read. Its structure is sound: every offset in it may
/// be followed.
StatusOr<const fb::Program *> openFlatbuffer(std::span<const uint8_t> bytes, const std::string &source);

/// Where an error is: "FILE: entry step 64: instruction 3 (gemm, layers.0.mlp.up_proj)".
std::string describeInstruction(const Program &program, const Entry &entry, size_t instruction);

/// Checks what no single table of the file says: parameters and packs against each other and the spaces.
Status verifyParameters(const Program &program);

/// Checks an entry: its roles, the calls of its instructions, what they write, its debug values.
Status verifyEntry(const Program &program, const Entry &entry);

} // namespace qrt

#endif // RUNTIME_PROGRAM_DECODE_H
