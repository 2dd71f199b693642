#!/usr/bin/env bash
# Runs the tests of engines on a real Slurm, which is brought up for them and ended after. Needs root, and Debian's slurm-wlm and munge.
set -u
cd "$(dirname "$0")/.." || exit 1
parent=$(mktemp -d)
trap 'scripts/slurm-down.sh "$parent/slurm"; rmdir "$parent"' EXIT
# Small arrays, so that they have to be divided.
CPUS=4 MAX_ARRAY_SIZE=5 scripts/slurm-up.sh "$parent/slurm" || exit 1
export CUTROOM_SLURM_CONF=$parent/slurm/slurm.conf
npm run --silent test:engines
