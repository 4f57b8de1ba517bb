#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what the build and the tools need on Debian 12 and is not there yet. Needs root, or sudo.
set -euo pipefail

packages=(
  # compiler and build
  clang-22 lld-22 clang-format-22 libclang-rt-22-dev cmake ninja-build ccache git
  # MLIR and LLVM, with lit, FileCheck and the headers their CMake files ask for
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools libzstd-dev zlib1g-dev
  # libraries
  libfmt-dev nlohmann-json3-dev libcli11-dev libflatbuffers-dev flatbuffers-compiler libdnnl-dev libssl-dev libgtest-dev
  # data tools
  python3 python3-venv
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup.sh: error: installing ${missing[*]} needs root or sudo" >&2; exit 1; }
  as_root=(sudo)
fi
echo "setup.sh: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
