# Shared by the scripts in tools/: where things are, and how they speak. Sourced, never run.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python_env=$root/build/python
deps=$root/build/deps
tool=$(basename "$0")

say() { printf '%s: %s\n' "$tool" "$*"; }

# fail CODE TEXT: 2 = used wrongly or something the user must do, 3 = a step of ours did not work.
fail() {
  printf '%s: %s\n' "$tool" "$2" >&2
  exit "$1"
}

jobs() { nproc 2>/dev/null || echo 2; }

# Path of the pinned ONNX Runtime library inside build/python; empty when it is not there.
ort_library() {
  local lib
  for lib in "$python_env"/lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so.*; do
    [[ -e $lib ]] && { echo "$lib"; return; }
  done
  return 0
}

# The provider plug-in of the optional QNN wheel inside build/python.
have_qnn() {
  compgen -G "$python_env/lib/python3*/site-packages/onnxruntime_qnn/libonnxruntime_providers_qnn.so" >/dev/null
}

# configure PRESET [CMAKE ARGUMENT...], build PRESET [TARGET...]
configure() {
  local preset=$1
  shift
  (cd "$root" && cmake --preset "$preset" -DPARITAS_PYTHON_ENV="$python_env" "$@" --log-level=WARNING >"$root/build/$preset.configure.log" 2>&1) ||
    { cat "$root/build/$preset.configure.log" >&2; fail 3 "CMake could not configure the preset $preset"; }
}

build() {
  local preset=$1
  shift
  (cd "$root" && cmake --build --preset "$preset" --parallel "$(jobs)" ${1:+--target "$@"}) ||
    fail 3 "the build of preset $preset failed"
}
