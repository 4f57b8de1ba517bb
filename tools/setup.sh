#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what the build and the tools need on Debian 12 and is not there yet: some 340 MB to download and 2.2 GB of
# disk on a machine that has none of it. tools/demo.sh and tools/check.sh begin with it.
#
#   tools/setup.sh [--cuda | --gpu] [--list]
#
#   --cuda       also what a build for GPUs takes of CUDA toolkit 13, where that is not in /usr/local/cuda
#   --gpu        the same, and what its programs need to run on a GPU (tools/cuda_wheels.sh, which says how much it is)
#   --list       only name the packages that are missing, one a line; installs nothing
#   -h, --help   this text
#
# Needs root or sudo, and Debian 12 with its security updates (the suite bookworm-security): LLVM 22 comes from there.
# Elsewhere it stops; what a machine that only runs programs needs of CUDA, tools/cuda_wheels.sh --gpu installs anywhere.
# Exit codes: 0 all is there, 1 something could not be installed, 2 wrong usage.
set -euo pipefail

usage() { sed -n '4,16s/^# \{0,1\}//p' "$0"; }
list=0
cuda=0
cuda_options=()
for argument in "$@"; do
  case "$argument" in
    --cuda) cuda=1 ;;
    --gpu) cuda=1; cuda_options+=(--gpu) ;;
    --list) list=1 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "setup.sh: error: unknown option '$argument' (tools/setup.sh --help lists the options)" >&2; exit 2 ;;
  esac
done

# Of CUDA what was asked for.
install_cuda() { [ "$cuda" = 0 ] || "$(dirname "$0")/cuda_wheels.sh" "${cuda_options[@]}" "$@"; }

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
if [ "$list" = 1 ]; then
  [ ${#missing[@]} -eq 0 ] || printf '%s\n' "${missing[@]}"
  install_cuda --list
  exit 0
fi
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup.sh: all ${#packages[@]} packages are installed"
  install_cuda
  exit 0
fi

say() { echo "setup.sh: $*"; }
echo "setup.sh: ${#missing[@]} of ${#packages[@]} packages are missing: ${missing[*]}" | fold -s -w 118

# Other distributions have these packages under other names or in other versions: ours would not build, or worse.
system=$(. /etc/os-release 2>/dev/null && echo "${PRETTY_NAME:-} [${ID:-} ${VERSION_ID:-}]") || true
case "$system" in
  *"[debian 12]") ;;
  *)
    echo "setup.sh: error: expected Debian 12, whose packages these are, got ${system:-a system without /etc/os-release}." \
      "To build, take a container of debian:12. A machine that only runs what was built needs libdnnl.so.2 (oneDNN 2)" \
      "and what \`tools/cuda_wheels.sh --gpu\` installs" | fold -s -w 118 >&2
    exit 1
    ;;
esac

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup.sh: error: installing packages needs root or sudo" >&2; exit 1; }
  as_root=(sudo)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# apt ARGUMENT...: apt-get without questions; on stdout what it says, and its progress as "dlstatus:..." and
# "pmstatus:..." lines (apt's README.progress-reporting). These go to a descriptor of their own, which apt closes for the
# packages' scripts, opened on the other side of sudo, which closes all but three.
apt() {
  "${as_root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive sh -c 'apt-get -q -o APT::Status-Fd=3 "$@" 3>&1' apt "$@" \
    </dev/null 2>&1
}
# failed WHAT: ends with the last lines that apt-get said.
failed() {
  { grep -vE '^(dl|pm)(status|error):' "$log" || true; } | tail -n 20 >&2 # it may have said nothing
  echo "setup.sh: error: $1" >&2
  exit 1
}

say "reading the package lists"
apt update >"$log" || failed "apt-get update failed (above)"
for package in "${missing[@]}"; do
  apt-cache show --no-all-versions "$package" >/dev/null 2>&1 && continue
  echo "setup.sh: error: this machine's package lists have no '$package'" >&2
  case "$package" in
    *-22*) echo "setup.sh: LLVM 22 comes with the security updates of Debian 12 (the suite bookworm-security of the" \
      "archive debian-security): add it to /etc/apt/sources.list and run this again" >&2 ;;
  esac
  exit 1
done

# Says how much it is, and then every tenth of a stage.
progress() {
  local line stage tenth last=""
  while IFS= read -r line; do
    case "$line" in
      "Need to get "*) say "to download: ${line#Need to get }" ;;
      "After this operation, "*) say "on disk: ${line#After this operation, }" ;;
    esac
    [[ $line =~ ^(dlstatus|pmstatus):.*:([0-9]+)\.[0-9]+: ]] || continue
    [ "${BASH_REMATCH[1]}" = dlstatus ] && stage="downloaded" || stage="unpacked and set up"
    tenth=$((BASH_REMATCH[2] / 10 * 10))
    [ "$stage $tenth" = "$last" ] || say "$stage $tenth % ($SECONDS s)"
    last="$stage $tenth"
  done
}
apt install -y --no-install-recommends "${missing[@]}" | tee "$log" | progress || failed "apt-get install failed (above)"
say "installed in $SECONDS s"
install_cuda
