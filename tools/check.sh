#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what is missing, builds everything, and runs all tests: the command of the README and of continuous integration.
#
#   tools/check.sh [--with-transformers]
#
# --with-transformers makes an environment with PyTorch and transformers once (some GB) and runs the comparisons with them too.
set -euo pipefail
cd "$(dirname "$0")/.."

with_transformers=0
for argument in "$@"; do
  case "$argument" in
    --with-transformers) with_transformers=1 ;;
    *) echo "usage: tools/check.sh [--with-transformers]" >&2; exit 2 ;;
  esac
done

tools/setup.sh
if [ "$with_transformers" = 1 ]; then
  tools/python_env.sh --with-transformers
else
  tools/python_env.sh
fi

git ls-files '*.cpp' '*.h' '*.cuh' | xargs clang-format-22 --dry-run -Werror

cmake --preset release
cmake --build --preset release
if [ ! -e .venv-transformers/stamp ]; then
  echo "NOT RUN: e2e-transformers, e2e-transformers-demo, python-transformers (tools/check.sh --with-transformers runs them)"
elif [ ! -d demo/run/checkpoint ]; then
  echo "NOT RUN: e2e-transformers-demo (there is no demo/run/checkpoint: tools/demo.sh makes it)"
fi
ctest --test-dir build --output-on-failure
