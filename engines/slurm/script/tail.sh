if [ -n "$beside" ]; then
  cd "$WORK" && exec "$@"
  exit 127
fi
trap : TERM # it reaches the program as well, which may take its time
(
  cd "$WORK" || exit
  program
) &
child=$!
while kill -0 "$child" 2> /dev/null; do wait "$child"; done # a signal interrupts waiting
wait "$child"
code=$?
(cd "attempt-$ATTEMPT" && fact "rank-$RANK.ended" "$code $(date +%s%N) $(stat -c %s "$place.log")")
exit "$code"
