#!/usr/bin/env bash
# Runs one text case (tests/cases/README.md) against a freshly built paritas.
#   tests/run_case.sh PARITAS CASE.t            exit 0 passed, 1 differs, 77 skipped (says why)
#   tests/run_case.sh --update PARITAS CASE.t   writes the actual output into the case
set -euo pipefail

update=no
if [[ ${1:-} == --update ]]; then
  update=yes
  shift
fi
[[ $# == 2 && -x $1 && -f $2 ]] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
binary=$(realpath "$1")
case_file=$(realpath "$2")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cram=$(command -v cram3 || command -v cram) || { echo "cram3 is missing: run tools/setup" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/tmp"
ln -s "$binary" "$work/bin/paritas"

# What a case may rely on; everything else of the caller's that could change the output goes.
python_env=$root/build/python
unset PARITAS_ORT PYTHONPATH PYTHONHOME CDPATH LANG LANGUAGE COLORTERM FORCE_COLOR CLICOLOR_FORCE
export PATH=$work/bin:$python_env/bin:$PATH
export VIRTUAL_ENV=$python_env
export PYTHON=$python_env/bin/python
export EXAMPLES=$root/examples
export CASES=$root/tests/cases
export BUILD=$(dirname "$binary")
if [[ -z ${PARITAS_TEST_MODELS+set} ]]; then
  PARITAS_TEST_MODELS=
  [[ ! -d $root/../shared/models ]] || PARITAS_TEST_MODELS=$(realpath "$root/../shared/models")
fi
export MODELS=$PARITAS_TEST_MODELS
export TMPDIR=$work/tmp
export NO_COLOR=1 LC_ALL=C.UTF-8 TZ=UTC COLUMNS=80 TERM=dumb

if [[ $(basename "$case_file") == htp_* ]] &&
  ! compgen -G "$python_env/lib/python3*/site-packages/onnxruntime_qnn" >/dev/null; then
  echo "skipped: needs the QNN wheel (tools/setup without --without-qnn, x86-64 Linux)"
  exit 77
fi

options=(--preserve-env --shell=/bin/bash)
# cram leaves a .err file beside a failed case: run a copy, so that the source tree stays clean.
cp "$case_file" "$work/"
code=0
"$cram" "${options[@]}" "$work/$(basename "$case_file")" >"$work/output" 2>&1 || code=$?
cat "$work/output"
if [[ $update == yes ]]; then
  # The .err file is the case with the actual output in place of what differed.
  [[ ! -f $work/$(basename "$case_file").err ]] || cp "$work/$(basename "$case_file").err" "$case_file"
  exit 0
fi
if ((code == 0)) && grep -q '^# Ran 1 tests, 1 skipped, 0 failed' "$work/output"; then
  # cram drops what a skipped case printed; the reason stands in the case.
  echo "skipped: $(sed -n 's/.*skip: *//p' "$case_file" | head -1)"
  exit 77
fi
exit "$code"
