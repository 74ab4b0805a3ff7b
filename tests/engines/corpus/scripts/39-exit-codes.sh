#!/bin/bash
#SBATCH --job-name=codes
#SBATCH --ntasks=1
#SBATCH --time=5

for code in 0 1 42 255; do
  srun -n1 bash -c "exit $code"
  echo "code $?"
done
srun -n1 no-such-program
echo "missing: $?"
srun -n1 bash -c 'kill -TERM $$'
echo "terminated: $?"
srun -n1 bash -c 'kill -SEGV $$'
echo "crashed: $?"
srun -n1 /etc/passwd
echo "not executable: $?"
