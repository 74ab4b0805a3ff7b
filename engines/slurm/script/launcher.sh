
# One program on the first node starts the workers as tasks, by mpirun or srun.
LAUNCHER=yes
step() { exec setsid "$@"; } # a process group of its own, which a signal reaches whole

meet() { # record the nodes of the workers
  local rank=0 number=0 node
  while read -r _ node; do
    if [ $((number % SLOTS)) = 0 ]; then
      rank=$((rank + 1))
      (cd "attempt-$attempt" && fact "rank-$rank.started" "$node $(date +%s)")
    fi
    number=$((number + 1))
  done < <(tasks sh -c 'echo "$SLURM_PROCID $SLURMD_NODENAME"' | sort -n)
}

part() { # record that the workers ended with the program
  local started
  for started in "attempt-$attempt"/rank-*.started; do
    [ -e "${started%.started}.ended" ] && continue
    started=${started##*/}
    (cd "attempt-$attempt" && fact "${started%.started}.ended" "$1 $(date +%s%N) 0")
  done
}
