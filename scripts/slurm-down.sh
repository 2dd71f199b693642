#!/usr/bin/env bash
# slurm-down.sh DIR: ends the Slurm that slurm-up.sh brought up there with all of its jobs, and removes DIR.
set -u

[ $# -eq 1 ] || { echo 'usage: slurm-down.sh DIR' >&2; exit 2; }
dir=$(realpath -m "$1")
[ -e "$dir/slurm.conf" ] || { echo "slurm-down.sh: no Slurm of slurm-up.sh is in $dir" >&2; exit 2; }
export SLURM_CONF=$dir/slurm.conf

# Processes of jobs outlive their daemons: they go first.
if timeout 10 scancel --state=PENDING --user="$(id -un)" 2>/dev/null; then
  timeout 10 scancel --full --signal=KILL --user="$(id -un)" 2>/dev/null
  timeout 10 scancel --user="$(id -un)" 2>/dev/null
fi
for _ in $(seq 20); do
  [ -z "$(timeout 5 squeue --noheader 2>/dev/null)" ] && break
  sleep 0.5
done

# Ends the daemon whose process the file names, unless the number belongs to another program by now.
end() {
  local pid
  pid=$(cat "$dir/$1.pid" 2>/dev/null) || return 0
  [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$2" ] || return 0
  kill "$pid"
  for _ in $(seq 40); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.25
  done
  kill -KILL "$pid"
}
end slurmd slurmd
end slurmctld slurmctld
end munge munged
rm -rf "$dir"
