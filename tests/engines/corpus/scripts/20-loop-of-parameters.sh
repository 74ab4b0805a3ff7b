#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=grid
#SBATCH --ntasks=2
#SBATCH --time=5

for lr in 0.1 0.01; do
  for wd in 0 1e-4; do
    run_name="lr${lr}_wd${wd}"
    mkdir -p "runs/$run_name"
    srun --output="runs/$run_name/log_%t.txt" bash -c "echo \$SLURM_PROCID $run_name"
  done
done
for file in runs/*/log_*.txt; do
  echo "$file: $(cat "$file")"
done
