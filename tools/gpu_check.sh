#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# All checks that need a GPU (compute capability 9.0), from a built tree: nothing is compiled or downloaded. Ends with
# "N passed, N failed".
#
#   tools/gpu_check.sh [--build DIR] [--only TEXT] [--jobs N] [--seed N] [--list]
#
# First, on any machine: ninja -C build gpu-check-programs. Needs Python 3, the driver, cuBLASLt, and compute-sanitizer on
# the PATH. `--help` says what is checked.
# Exit codes: 0 all passed, 1 something failed, 2 wrong usage.
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/../tests/gpu/gpu_check.py" "$@"
