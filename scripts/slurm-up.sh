#!/usr/bin/env bash
# slurm-up.sh DIR: brings up a Slurm of one node on this machine, for tests. Ends it: slurm-down.sh DIR.
#
# Needs root and Debian's packages: apt-get install -y slurm-wlm munge. All that it writes lies in DIR, its own munge's key and socket included:
# a Slurm or munge of the system is left alone. Prints the line that makes a shell use it: export SLURM_CONF=DIR/slurm.conf
#
#   CPUS=2                jobs of one CPU that run at once, whatever the machine has
#   MAX_ARRAY_SIZE=1001   Slurm's MaxArraySize: indices of arrays end below it
#   MIN_JOB_AGE=300       seconds after which a job that ended is forgotten
#   FIRST_PORT=           of two ports in a row on 127.0.0.1 [the first free ones from 16817 on]
#   MORE_CONF=            further lines of slurm.conf
set -euo pipefail

[ $# -eq 1 ] || { echo 'usage: slurm-up.sh DIR' >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo 'slurm-up.sh: needs root' >&2; exit 2; }
for program in munged slurmctld slurmd scontrol; do
  command -v "$program" >/dev/null || { echo "slurm-up.sh: no $program: apt-get install -y slurm-wlm munge" >&2; exit 2; }
done
here=$(cd "$(dirname "$0")" && pwd)
dir=$(realpath -m "$1")
case $dir in *[!A-Za-z0-9/._-]*) echo "slurm-up.sh: slurm.conf cannot hold this folder's name: $dir" >&2; exit 2 ;; esac
if [ -e "$dir/slurm.conf" ]; then "$here/slurm-down.sh" "$dir"; fi
# Whoever authenticates has to reach the socket, and munged refuses folders that others may write to.
install -d -m 0755 "$dir" "$dir/munge" "$dir/controller" "$dir/node"

fail() {
  echo "slurm-up.sh: $1" >&2
  tail -n 20 "$dir"/*.log "$dir"/munge/*.log >&2 || true
  "$here/slurm-down.sh" "$dir" || true
  exit 1
}

head -c 128 /dev/urandom >"$dir/munge/key"
chmod 0600 "$dir/munge/key"
munged --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge.pid" \
  --log-file="$dir/munge/munged.log" --seed-file="$dir/munge/seed" || fail 'munged does not start'

node=$(hostname -s)
is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
port=${FIRST_PORT:-16817}
if [ -z "${FIRST_PORT:-}" ]; then
  while is_taken "$port" || is_taken "$((port + 1))"; do port=$((port + 2)); done
fi
cat >"$dir/slurm.conf" <<CONF
ClusterName=cutroom-tests
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=100000,bf_interval=1,batch_sched_delay=0
MaxArraySize=${MAX_ARRAY_SIZE:-1001}
MinJobAge=${MIN_JOB_AGE:-300}
KillWait=5
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation=$dir/controller
SlurmdSpoolDir=$dir/node
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
${MORE_CONF:-}
NodeName=$node NodeAddr=127.0.0.1 CPUs=${CPUS:-2} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$dir/slurm.conf
slurmctld || fail 'slurmctld does not start'
slurmd || fail 'slurmd does not start'
for _ in $(seq 60); do
  if sinfo --noheader --format=%t 2>/dev/null | grep -qE '^(idle|mix|alloc)$'; then
    echo "export SLURM_CONF=$SLURM_CONF"
    exit 0
  fi
  sleep 0.5
done
fail 'the node is not ready after 30 s'
