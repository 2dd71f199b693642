#!/usr/bin/env bash
# ray-down.sh [--keep] DIR: ends the Ray that ray-up.sh brought up there with all of its jobs, and removes DIR, unless it is to be kept.
#
# `ray stop` would end every Ray of this machine.
set -u

keep=no
if [ "${1:-}" = --keep ]; then keep=yes && shift; fi
[ $# -eq 1 ] || { echo 'usage: ray-down.sh [--keep] DIR' >&2; exit 2; }
dir=$(realpath -m "$1")
[ -e "$dir/token" ] || { echo "ray-down.sh: no Ray of ray-up.sh is in $dir" >&2; exit 2; }

# Processes that were started with the folder in their environment, and their descendants: some write their title over their environment.
list() {
  {
    for place in /proc/[0-9]*; do
      if grep -qzxF "CUTROOM_RAY_DIR=$dir" "$place/environ" 2>/dev/null; then echo "${place#/proc/} mine"; fi
    done
    cat /proc/[0-9]*/status 2>/dev/null | awk '/^Pid:/ { pid = $2 } /^PPid:/ { print pid, $2 }'
  } | awk '
    $2 == "mine" { mine[$1] = 1; next }
    { parent[$1] = $2 }
    END {
      do {
        grown = 0
        for (pid in parent) if (!(pid in mine) && parent[pid] in mine) { mine[pid] = 1; grown = 1 }
      } while (grown)
      for (pid in mine) print pid
    }'
}

pids=$(list)
for signal in TERM TERM KILL KILL KILL KILL; do
  pids=$(for pid in $pids $(list); do kill -0 "$pid" 2>/dev/null && echo "$pid"; done | sort -u)
  [ -n "$pids" ] || break
  # shellcheck disable=SC2086
  kill "-$signal" $pids 2>/dev/null
  sleep 1
done
[ "$keep" = yes ] || rm -rf "$dir"
