#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=parallel
#SBATCH --ntasks=3
#SBATCH --time=5

for i in 1 2 3; do
  srun --ntasks=1 --nodes=1 --exclusive -o "part_$i.txt" bash -c "echo part $i on \$SLURM_NTASKS" &
done
wait
cat part_1.txt part_2.txt part_3.txt
