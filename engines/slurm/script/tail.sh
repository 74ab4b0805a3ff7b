if [ -n "$beside" ]; then
  [ -n "$inside" ] || cd "$WORK" && exec "${inside[@]}" "$@"
  exit 127
fi
asked=
trap 'asked=yes' TERM # the program gets the signal too, and may take its time to end
task=$SLURM_JOB_ID.$SLURM_STEP_ID.$RANK # in the environment of every process of the program
left() { grep -qszx "TRAINYARD_TASK=$task" /proc/[0-9]*/environ; }
setup() { # run the setup commands in the shell that becomes the program; the first failure ends it
  trap 'code=$?; echo "Setup line $LINENO ended with exit code $code. The program was not started." >&2
    exit "$code"' ERR
  . "$1"
  trap - ERR
}
(
  export TRAINYARD_TASK=$task
  if [ -n "$inside" ]; then # an image, or mounts: other files than the node has
    [ ! -e "$run/setup.sh" ] ||
      inside+=(bash -c "$(declare -f setup); setup \"\$0\"; exec \"\$@\"" "$run/setup.sh")
    program "${inside[@]}"
  fi
  cd "$WORK" || exit
  [ ! -e "$run/setup.sh" ] || setup "$run/setup.sh"
  program
) &
child=$!
while kill -0 "$child" 2> /dev/null; do wait "$child"; done # a signal interrupts waiting
wait "$child"
code=$?
[ "$code" != 143 ] || sleep 1 # the signal may reach this shell later than the program
if [ -n "$asked" ]; then # the grace period is for processes, too, whose shell has ended
  while left; do sleep 0.2; done
fi
(
  cd "attempt-$ATTEMPT" || exit
  [ "$RANK" != "$lead" ] || [ "$code" != 0 ] || fact led "$RANK"
  fact "rank-$RANK.ended" "$code $(date +%s%N) $(stat -c %s "$place.log") ${asked:+asked}"
)
[ ! -s "$own.lack" ] || fact trouble "The node $SLURMD_NODENAME cannot mount what its ranks need \
($(cat "$own.lack")): its administrator has to allow user namespaces, and to install Python."
# Ranks that were asked to end may need different times for that: srun ends all after a failure.
[ -n "$asked" ] && { [ -e stop ] || [ -e limit ]; } && exit 0
# If the lead of named roles has succeeded, or only its status counts, the others may fail.
if [ -n "$lead" ] && [ "$RANK" != "$lead" ]; then
  if [ -n "$only_lead" ] || [ -e "attempt-$ATTEMPT/led" ]; then exit 0; fi
fi
exit "$code"
