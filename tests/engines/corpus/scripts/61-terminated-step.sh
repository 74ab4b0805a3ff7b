#!/bin/bash
#SBATCH --job-name=kill
#SBATCH --ntasks=1
#SBATCH --time=5

# srun ends its tasks at once, so they save nothing.
for signal in TERM HUP QUIT; do
  mkfifo ready
  timeout --foreground --signal=$signal 2 srun -n1 \
    bash -c "trap 'echo saving; exit 3' $signal; echo > ready; sleep 100" 2> errors &
  read -r < ready
  wait $!
  echo "code $?"
  grep -v -e "^slurmstepd" -e "Terminating StepId" errors | sed -e 's/up to [0-9]*/up to N/'
  rm ready
done
