tf_config() { # the gang as TensorFlow reads it, a port for each rank; with "chief" rank 0 leads
  local rank=0 index=$RANK role=worker chief= workers= host place
  for host in $HOSTS; do
    place="\"$host:$((MASTER_PORT + rank))\""
    if [ "$rank" = 0 ] && [ "$1" = chief ]; then chief="\"chief\": [$place], "
    else workers="$workers${workers:+, }$place"; fi
    rank=$((rank + 1))
  done
  if [ "$1" = chief ] && [ "$RANK" = 0 ]; then role=chief; fi
  if [ "$1" = chief ] && [ "$RANK" != 0 ]; then index=$((RANK - 1)); fi
  echo "{\"cluster\": {$chief\"worker\": [$workers]}," \
    "\"task\": {\"type\": \"$role\", \"index\": $index}, \"environment\": \"cloud\"}"
}
