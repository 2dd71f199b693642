#!/bin/sh
# Makes .ray-venv in the root of the repository with the Ray that tests/engines/ runs tasks on (400 MB); does nothing where it is up to date.
# PYTHON names another interpreter than python3. Without Python or its venv module it says so and does nothing.
set -eu
cd "$(dirname "$0")/.."
ray='ray[default]==2.60.0'
marker=.ray-venv/made-of
python=${PYTHON:-python3}

if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
  echo "make-ray-venv: $python with venv and pip is not installed; the tests of Ray will be skipped" >&2
  exit 0
fi
wanted="$ray for $("$python" -c 'import sys; print(sys.version)')"
if [ -f "$marker" ] && [ "$(cat "$marker")" = "$wanted" ]; then
  echo 'make-ray-venv: .ray-venv is up to date'
  exit 0
fi
echo "make-ray-venv: installing $ray into .ray-venv"
rm -rf .ray-venv
"$python" -m venv .ray-venv
.ray-venv/bin/python -m pip install --quiet --disable-pip-version-check "$ray"
echo "$wanted" >"$marker"
