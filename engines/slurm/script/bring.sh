
bring() { # what the ranks read comes before they start; it is stopped as they are
  rm -f trouble
  setsid bash fetch.sh >> "attempt-$attempt/rank-0.log" 2>&1 &
  fetching=$!
  while kill -0 "$fetching" 2> /dev/null; do wait "$fetching"; done
  wait "$fetching"
  local code=$?
  fetching=
  rm -f stage
  [ "$code" != 0 ] || rm -rf keys # which nothing needs any more
  return "$code"
}
