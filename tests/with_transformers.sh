#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs unittest modules that compare with PyTorch and transformers:  with_transformers.sh FOLDER MODULE...
# Without the environment that `tools/python_env.sh --with-transformers` makes it ends with 77, which ctest reports as a test that was skipped.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
environment=$root/.venv-transformers
# The stamp is written last: without it the environment is half made.
if [ ! -e "$environment/stamp" ]; then
  echo "DID NOT RUN: there is no .venv-transformers here; tools/check.sh --with-transformers makes it" >&2
  exit 77
fi
cd "$1"
shift
exec "$environment/bin/python" -B -m unittest -v "$@"
