
meet() { # set HOSTS to the address of each rank, in order
  local node
  local -A at=()
  HOSTS=
  while read -r _ node; do
    [ -n "${at[$node]}" ] || at[$node]=$(address "$node")
    HOSTS="$HOSTS ${at[$node]}"
  done < <(bare sh -c 'echo "$SLURM_PROCID $SLURMD_NODENAME"' | sort -n)
  export HOSTS
}
