if [ -n "$beside" ]; then
  [ -n "$in_image" ] || cd "$WORK" && exec "${in_image[@]}" "$@"
  exit 127
fi
trap : TERM # the program gets the signal too, and may take its time to end
setup() { # run the setup commands in the shell that becomes the program; the first failure ends it
  trap 'code=$?; echo "Setup line $LINENO ended with exit code $code. The program was not started." >&2
    exit "$code"' ERR
  . "$1"
  trap - ERR
}
run=$PWD
(
  if [ -n "$in_image" ]; then # it has another working directory, shell and files than the node
    [ ! -e "$run/setup.sh" ] ||
      in_image+=(bash -c "$(declare -f setup); setup \"\$0\"; exec \"\$@\"" "$run/setup.sh")
    program "${in_image[@]}"
  fi
  cd "$WORK" || exit
  [ ! -e "$run/setup.sh" ] || setup "$run/setup.sh"
  program
) &
child=$!
while kill -0 "$child" 2> /dev/null; do wait "$child"; done # a signal interrupts waiting
wait "$child"
code=$?
(cd "attempt-$ATTEMPT" && fact "rank-$RANK.ended" "$code $(date +%s%N) $(stat -c %s "$place.log")")
exit "$code"
