# Sourced by tools/demo and tests/run: configure and build one CMake preset.
# shellcheck shell=bash

# The repository's root, from which everything here is called.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# configure_preset PRESET: only when there is nothing to build with yet; Ninja
# repeats it by itself when a CMake file changed. A folder that was configured
# for another place (a copied tree) is configured afresh.
configure_preset() {
  local cache="$top/build/$1/CMakeCache.txt"
  if [ -f "$top/build/$1/build.ninja" ] &&
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$top" "$cache" 2>/dev/null; then
    return 0
  fi
  (cd "$top" && cmake --fresh --preset "$1")
}

# build_preset PRESET [TARGET]...
build_preset() {
  local preset=$1 targets=()
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  configure_preset "$preset" && (cd "$top" && cmake --build --preset "$preset" "${targets[@]}")
}
