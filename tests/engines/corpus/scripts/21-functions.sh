#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=functions
#SBATCH --ntasks=2
#SBATCH --time=5

log() { printf '[%s] %s\n' "$1" "$2"; }
run_step() {
  local name=$1
  shift
  log start "$name"
  srun "$@" || return $?
  log end "$name"
}
run_step first bash -c 'echo "rank $SLURM_PROCID"'
run_step second -n 1 echo only one
run_step third -n 1 false || log failed "third with $?"
