#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Takes what the project uses of CUDA toolkit 13 from the Python Package Index, where /usr/local/cuda does not have it.
# It goes into .cuda/, where the build finds it (cmake/CudaToolkit.cmake).
#
#   tools/cuda_wheels.sh [--gpu] [--list]
#
#                (always) what a build for GPUs takes: NVRTC and cuda.h, 92 MB to download, 225 MB of disk
#   --gpu        also what its programs need to run on a GPU, besides the driver: cuBLASLt and CUPTI, 434 MB to download,
#                615 MB of disk
#   --list       only name the Python packages that are missing, one a line; installs nothing
#   -h, --help   this text
#
# Needs python3 with the venv module (Debian: python3-venv); the variable PYTHON names another interpreter.
# Exit codes: 0 all is there, 1 something could not be installed, 2 wrong usage.
set -euo pipefail

usage() { sed -n '4,17s/^# \{0,1\}//p' "$0"; }
parts=(cuda)
list=0
for argument in "$@"; do
  case "$argument" in
    --gpu) parts=(cuda gpu) ;;
    --list) list=1 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "cuda_wheels.sh: error: unknown option '$argument' (tools/cuda_wheels.sh --help lists the options)" >&2; exit 2 ;;
  esac
done
say() { echo "cuda_wheels.sh: $*"; }
fail() { echo "cuda_wheels.sh: error: $*" >&2; exit 1; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
toolkit=/usr/local/cuda
folder=$root/.cuda
requirements() { echo "$root/tools/requirements-$1.txt"; } # of a part
# toolkit_has LIBRARY: whether the toolkit is one of version 13 with this library (as cmake/CudaToolkit.cmake asks).
toolkit_has() {
  grep -qsE '^#define CUDA_VERSION +13[0-9]{3}' $toolkit/include/cuda.h &&
    { [ -e "$toolkit/lib/$1" ] || [ -e "$toolkit/lib64/$1" ]; }
}

complete=1
for part in "${parts[@]}"; do
  case "$part" in
    cuda) toolkit_has libnvrtc.so.13 || complete=0 ;;
    gpu) { toolkit_has libcublasLt.so.13 && toolkit_has libcupti.so.13; } || complete=0 ;;
  esac
done
# A part that is there has left its requirements beside it, as the last thing: what was interrupted starts over.
missing=()
if [ $complete = 0 ]; then
  for part in "${parts[@]}"; do
    cmp -s "$(requirements "$part")" "$folder/stamp-$part" || missing+=("$part")
  done
fi
if [ "$list" = 1 ]; then
  for part in "${missing[@]}"; do
    sed -n 's/^\([a-z][^ ]*==[^ ]*\).*/\1/p' "$(requirements "$part")"
  done
  exit 0
fi
if [ ${#missing[@]} -eq 0 ]; then
  [ $complete = 1 ] && say "CUDA toolkit 13 is in $toolkit" || say ".cuda/ is up to date"
  exit 0
fi

python=${PYTHON:-}
if [ -z "$python" ]; then
  # The distribution's own first: it is the one whose venv module tools/setup.sh installs.
  for candidate in /usr/bin/python3 python3; do
    if command -v "$candidate" >/dev/null; then python=$candidate; break; fi
  done
fi
[ -n "$python" ] || fail "no python3 found; install python3 and python3-venv"

# The installer alone lives in an environment, for as long as it is needed.
work=$folder/work
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv" || fail "'$python -m venv' failed; on Debian install python3-venv"
for part in "${missing[@]}"; do
  began=$SECONDS
  say "installing what tools/requirements-$part.txt lists into .cuda/:"
  "$work/venv/bin/python" -m pip install --disable-pip-version-check --no-deps --require-hashes \
    --target "$work/$part" -r "$(requirements "$part")" || fail "pip could not install it (above)"
  size=$(du -sm "$work/$part" | cut -f1)
  # Wheels share folders, which pip would not merge.
  cp -alf "$work/$part/." "$folder/"
  cp "$(requirements "$part")" "$folder/stamp-$part"
  say "$size MB on disk in $((SECONDS - began)) s"
done
