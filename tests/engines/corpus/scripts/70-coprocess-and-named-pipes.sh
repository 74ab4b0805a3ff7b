#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=pipes
#SBATCH --ntasks=2
#SBATCH --time=5

diff <(srun -n1 -N1 seq 3) <(seq 3) && echo "no difference"
mapfile -t lines < <(srun -n 1 seq 5)
echo "${#lines[@]} lines, the last is ${lines[4]}"
srun -n1 echo "through a process" > >(sed 's/^/> /' > filtered)
wait
until [ -s filtered ]; do sleep 0.1; done
cat filtered
