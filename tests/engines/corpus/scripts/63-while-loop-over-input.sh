#!/bin/bash
#SBATCH --job-name=loop
#SBATCH --ntasks=1
#SBATCH --time=5

# Without --input=none the first step would read the rest of the list.
printf 'one\ntwo\nthree\n' > list
while read -r name; do
  srun -n1 --input=none echo "item $name"
done < list
while read -r name; do
  srun -n1 cat < /dev/null
  echo "also $name"
done < list
