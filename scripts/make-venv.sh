#!/bin/sh
# Makes .venv in the root of the repository with what tests/interop/ needs; does nothing where it is up to date.
# PYTHON names another interpreter than python3. Without Python or its venv module it says so and does nothing.
set -eu
cd "$(dirname "$0")/.."
requirements=tests/interop/requirements.txt
alone=tests/interop/requirements-alone.txt
marker=.venv/requirements-hash
python=${PYTHON:-python3}

if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
  echo "make-venv: $python with venv and pip is not installed; the interop tests will be skipped" >&2
  exit 0
fi
wanted=$("$python" - "$requirements" "$alone" <<'PYTHON'
import hashlib, pathlib, sys

files = b"\0".join(pathlib.Path(name).read_bytes() for name in sys.argv[1:])
print(hashlib.sha256(files + sys.version.encode()).hexdigest())
PYTHON
)
if [ -f "$marker" ] && [ "$(cat "$marker")" = "$wanted" ]; then
  echo "make-venv: .venv is up to date"
  exit 0
fi
echo "make-venv: installing $requirements and $alone into .venv"
rm -rf .venv
"$python" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement "$requirements"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement "$alone"
echo "$wanted" >"$marker"
