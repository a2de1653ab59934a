# Shared by the scripts: installing what is missing, configuring, building. To be sourced.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '== %s\n' "$*"; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

packages=(
  g++ cmake ninja-build ccache pkgconf
  libhwy-dev libjpeg-dev libpng-dev libwebp-dev libtiff-dev libgif-dev libisal-dev libmatio-dev
  libpango1.0-dev fonts-dejavu-core
  nlohmann-json3-dev libcli11-dev libfmt-dev libpugixml-dev
  libgtest-dev libbenchmark-dev
  pybind11-dev python3-dev python3-numpy libcpp-httplib-dev
)
# What tests run beside the program. The page of `sact serve` is tested where chromium is, which is not asked for.
test_packages=(curl python3-matplotlib python3-pil python3-pip)
torch_packages=(libtorch-dev libopenblas-dev libgloo-dev)

# Presets without LibTorch need none of it.
uses_torch() { # PRESET
  case $1 in inference | tsan | fuzz) return 1 ;; esac
}

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      printf '%s\n' "$package"
  done
}

# need_space MIB DIRECTORY WHAT
need_space() {
  local free
  free=$(df -Pm "$2" | awk 'NR == 2 {print $4}')
  ((free >= $1)) || die "$3 needs about $1 MiB of disk at $2, but only $free MiB are free"
}

install_packages() { # PRESET
  local missing as_root=()
  ! uses_torch "$1" || packages+=("${torch_packages[@]}")
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]} == 0)) && return
  command -v apt-get >/dev/null ||
    die "apt-get was not found; on systems other than Debian install: ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      die "packages are missing; run this as root, install sudo, or have somebody run: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  need_space 1500 /var "installing packages"
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -q ||
    die "the package lists cannot be fetched; is there a network, and may this user use sudo?"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}" ||
    die "packages could not be installed; apt-get's own message stands above"
}

# build PRESET [TARGET...]
build() {
  local preset=$1 log
  shift
  need_space 1500 "$root" "building"
  # Compiling against LibTorch takes 1.5 GB a job: fewer jobs than cores where memory is short.
  local cores memory jobs
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo)
  jobs=$((memory < 1 ? 1 : memory < cores ? memory : cores))
  cd "$root"
  log=$(mktemp)
  say "configuring ($preset)"
  cmake --preset "$preset" >"$log" 2>&1 || {
    cat "$log" >&2
    die "configuring failed; the message of CMake stands above"
  }
  rm -f "$log"
  say "building ($preset, $jobs jobs; the first time takes some minutes)"
  cmake --build --preset "$preset" --parallel "$jobs" ${1:+--target "$@"} ||
    die "building failed; the first error stands above"
}
