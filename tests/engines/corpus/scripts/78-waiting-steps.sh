#!/bin/bash
#SBATCH --job-name=waiting
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --time=5

# More steps than there is room for; at most four run at once.
mkdir running
for i in $(seq 8); do
  srun -n1 -N1 --exact -o "log_$i" \
    bash -c "touch running/$i; sleep 0.3; [ \$(ls running | wc -l) -le 4 ] && echo ok $i; rm running/$i" 2> /dev/null &
done
wait
cat log_*
mkfifo ready
srun -n1 bash -c 'echo > ready; exec sleep 2' &
read -r < ready
srun -n1 --immediate=1 echo never
echo "code $?"
srun -n1 --overlap --mem=0 echo beside
wait
