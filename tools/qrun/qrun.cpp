// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qrun with the compiler in it.
#include "compiler/InProcessCompiler.h"
#include "tools/qrun/Command.h"

int main(int argc, char **argv) {
  qcc::InProcessCompiler compiler;
  return qrt::qrunMain(argc, argv, &compiler);
}
