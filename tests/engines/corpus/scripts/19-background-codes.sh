#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=codes
#SBATCH --ntasks=3
#SBATCH --time=5

pids=()
for code in 0 3 5; do
  srun -n1 -N1 --exclusive bash -c "exit $code" 2> "err_$code" &
  pids+=($!)
done
for pid in "${pids[@]}"; do
  wait "$pid"
  echo "step ended with $?"
done
cat err_0 err_3 err_5
