#!/bin/sh
#SBATCH --nodes=1
#SBATCH --job-name=posix
#SBATCH --ntasks=2
#SBATCH --time=5

i=0
while [ $i -lt 2 ]; do
  srun -n 1 echo "round $i" || exit 1
  i=$((i + 1))
done
[ -n "$SLURM_JOB_ID" ] && echo "in a job"
srun sh -c 'echo "$0 $1"' name argument
