#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=xargs
#SBATCH --ntasks=2
#SBATCH --time=5

seq 4 | xargs -P 2 -I{} srun -n1 -N1 --exclusive -o part_{} echo "part {}"
cat part_1 part_2 part_3 part_4
printf '%s\n' a b | xargs -n 1 srun -n1 -N1 echo
