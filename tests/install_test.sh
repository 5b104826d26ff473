#!/usr/bin/env bash
# `cmake --install` gives a paritas that works outside the tree: an empty environment, another folder, no build files.
#   tests/install_test.sh CMAKE BUILD_FOLDER
set -euo pipefail
cmake=$1
build=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
library=$(compgen -G "$root/build/python/lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so.*" | head -1) ||
  { echo "build/python has no onnxruntime: run tools/setup" >&2; exit 1; }

prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
"$cmake" --install "$build" --prefix "$prefix" >"$prefix/install.log"

if readelf -d "$prefix/bin/paritas" | grep -E 'RPATH|RUNPATH'; then
  echo "the installed paritas looks for libraries in a fixed folder" >&2
  exit 1
fi
installed() { (cd "$prefix" && env -i PATH=/usr/bin:/bin HOME="$prefix" TMPDIR="$prefix" "$prefix/bin/paritas" "$@"); }

installed --version | tee "$prefix/version"
grep -Eq '^paritas [0-9]+\.[0-9]+' "$prefix/version"

example=$root/examples/detr-mini
installed run "$example/detr_mini.onnx" --input "images=$example/images.npy" \
  --input "orig_target_sizes=$example/orig_target_sizes.npy" --target cpu --ort "$library" -o "$prefix/recording"
[[ -s $prefix/recording/run.json && -s $prefix/recording/sample-000000.safetensors ]] ||
  { echo "paritas run left no whole recording:" >&2; ls -lR "$prefix/recording" >&2; exit 1; }
echo "installed, ran, recorded"
