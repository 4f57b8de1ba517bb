// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qrun without the compiler: runs prebuilt programs.
#include "tools/qrun/Command.h"

int main(int argc, char **argv) { return qrt::qrunMain(argc, argv, nullptr); }
