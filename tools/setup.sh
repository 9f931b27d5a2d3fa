#!/bin/bash
# Installs what Kalmia needs on Debian 12, by groups:
#
#   tools/setup.sh build test        what `make test` asks for
#   tools/setup.sh --list            the groups and their packages
#
# Does nothing, and stays off the network, when everything is already there. Installing takes root,
# or sudo.
set -euo pipefail

declare -A groups=(
  [build]="g++ make cmake ninja-build python3 libhwy-dev libeigen3-dev libfmt-dev nlohmann-json3-dev libfast-float-dev zlib1g-dev libsndfile1-dev libcli11-dev libtomlplusplus-dev"
  [test]="libgtest-dev libgmock-dev python3"
  [bench]="libbenchmark-dev"
  [rivals]="python3 python3-numpy python3-torch python3-statsmodels libopenblas0-openmp"
  [torch]="libtorch-dev"
  [lint]="clang-format clang-tidy"
  [mpi]="libopenmpi-dev openmpi-bin"
)

if [[ $# -eq 0 || $1 == --help || $1 == -h ]]; then
  sed -n '2,8s/^# \{0,1\}//p' "$0"
  exit 0
fi
if [[ $1 == --list ]]; then
  for group in build test bench rivals torch lint mpi; do echo "$group: ${groups[$group]}"; done
  exit 0
fi

wanted=()
for group in "$@"; do
  if [[ -z ${groups[$group]:-} ]]; then
    echo "tools/setup.sh: unknown group \"$group\"; see tools/setup.sh --list" >&2
    exit 2
  fi
  read -ra packages <<<"${groups[$group]}"
  wanted+=("${packages[@]}")
done

if ! command -v dpkg-query >/dev/null; then
  echo "tools/setup.sh: not a Debian system; install the likes of: ${wanted[*]}" >&2
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "tools/setup.sh: missing ${missing[*]}; run as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
         apt-get install -y --no-install-recommends "${missing[@]}")
echo "tools/setup.sh: installing ${missing[*]}"
# The package lists may be missing or stale: fetch them only when a first try does not succeed.
if ! "${install[@]}" >/dev/null 2>&1; then
  "${as_root[@]}" apt-get update -q
  "${install[@]}"
fi
