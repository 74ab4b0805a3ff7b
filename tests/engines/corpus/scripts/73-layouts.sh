#!/bin/bash
#SBATCH --job-name=layouts
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=4
#SBATCH --time=5

for options in "-n 1" "-n 2" "-n 3" "-n 4" "-n 6" "-N 1" "-N 1 -n 2" "-N 2 -n 1" "-N 5" "-N 9 -n 9" \
  "--ntasks-per-node=2" "-n 4 --ntasks-per-node=2" "-n 3 --ntasks-per-node=2" "-c 2" "-c 4" "-c 5" "-c 2 -n 4" \
  "-O -n 9" "-n 9" "-r 1 -n 1" "-r 1 -N 1" "-r 2 -N 1" "-r 1"; do
  echo "== $options"
  srun $options bash -c 'if [ $SLURM_PROCID = 0 ]; then echo "$SLURM_STEP_TASKS_PER_NODE ${SLURM_CPUS_PER_TASK-none}"; fi'
done 2>&1 | cat
