#!/usr/bin/env bash
# ray-up.sh DIR: brings up a Ray of one node on this machine, for tests; where it is up it is restarted, and forgets its jobs. Ends it:
# ray-down.sh DIR.
#
# Needs Ray in a virtual environment: make-ray-venv.sh. All that it writes lies in DIR, whose name must be short: sockets lie in it. Prints the
# lines that make a shell use it: export CUTROOM_RAY_ADDRESS=http://127.0.0.1:8265 and export RAY_AUTH_TOKEN_PATH=DIR/token
#
#   RAY_VENV=.ray-venv    where Ray is
#   CPUS=2                jobs of one CPU that run at once, whatever the machine has
#   DASHBOARD_PORT=8265   of the Jobs API, on 127.0.0.1, below 10000; all other ports are free ones
set -euo pipefail

[ $# -eq 1 ] || { echo 'usage: ray-up.sh DIR' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
venv=${RAY_VENV:-$here/../.ray-venv}
[ -x "$venv/bin/ray" ] || { echo "ray-up.sh: no Ray in $venv: make-ray-venv.sh" >&2; exit 2; }
dir=$(realpath -m "$1")
# A socket's path has at most 107 letters (unix(7)), of which Ray takes 66.
[ "${#dir}" -le 40 ] || { echo "ray-up.sh: the name of the folder is too long: $dir" >&2; exit 2; }
port=${DASHBOARD_PORT:-8265}
address=http://127.0.0.1:$port
if [ -e "$dir/token" ]; then "$here/ray-down.sh" --keep "$dir"; fi
install -d -m 0700 "$dir"
[ -e "$dir/token" ] || (umask 077 && od -An -tx1 -N32 /dev/urandom | tr -d ' \n' >"$dir/token")

fail() {
  echo "ray-up.sh: $1" >&2
  tail -n 20 "$dir/start.log" "$dir"/session_latest/logs/dashboard.log >&2 || true
  env -u CUTROOM_RAY_DIR "$here/ray-down.sh" "$dir" || true
  exit 1
}

# What belongs to it is found by this variable: all of its processes, those of jobs included, inherit it.
export CUTROOM_RAY_DIR=$dir RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$dir/token
unset RAY_AUTH_TOKEN RAY_ADDRESS RAY_API_SERVER_ADDRESS
"$venv/bin/ray" start --head --port=0 --num-cpus="${CPUS:-2}" --object-store-memory=80000000 --temp-dir="$dir" \
  --dashboard-host=127.0.0.1 --dashboard-port="$port" --dashboard-agent-listen-port=0 --node-ip-address=127.0.0.1 \
  --min-worker-port=0 --max-worker-port=0 --disable-usage-stats >"$dir/start.log" 2>&1 </dev/null || fail 'Ray does not start'

# Asked with the Python of Ray: a bare machine has no curl.
answers() {
  "$venv/bin/python" - "$address/api/jobs/" "$dir/token" 2>/dev/null <<'PYTHON'
import sys, urllib.request

token = open(sys.argv[2]).read()
urllib.request.urlopen(urllib.request.Request(sys.argv[1], headers={"authorization": f"Bearer {token}"}), timeout=10)
PYTHON
}

for _ in $(seq 120); do
  if answers; then
    printf 'export CUTROOM_RAY_ADDRESS=%s\nexport RAY_AUTH_TOKEN_PATH=%s\n' "$address" "$dir/token"
    exit 0
  fi
  sleep 0.5
done
fail 'the Jobs API does not answer after 60 s'
