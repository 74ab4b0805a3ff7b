#!/bin/bash
#SBATCH --job-name=signal
#SBATCH --ntasks=1
#SBATCH --time=5

mkfifo ready
srun -n1 bash -c 'trap "echo saved; exit 0" USR1; echo > ready; while :; do sleep 0.1; done' 2> errors &
step=$!
read -r < ready
scancel --signal=USR1 "$SLURM_JOB_ID.0"
wait $step
echo "code $?"
