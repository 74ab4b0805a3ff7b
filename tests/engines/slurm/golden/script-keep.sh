#!/bin/bash
# Runs a shell as a task. Slurm ends a task with its first process, and a shell dies of SIGTERM at
# once: the grace period is for the programs that it started, too.
asked=
signal=
trap 'asked=yes' TERM
trap : HUP INT QUIT USR1 USR2 # they are for the shell, and its programs
task=$SLURM_JOB_ID.$SLURM_STEP_ID.$SLURM_PROCID # in the environment of all of them
left() { grep -qszx "TRAINYARD_TASK=$task" /proc/[0-9]*/environ; }
notes=$(mktemp) || notes=/dev/null
exec {errors}>&2 2> "$notes" # where bash says that a signal ended the other shell
# In the foreground, where it does not ignore SIGINT.
TRAINYARD_TASK=$task "$@" 2>&$errors {errors}>&-
code=$?
[ "$code" != 143 ] || sleep 1 # the signal may reach this shell later than the other one
if [ -n "$asked" ]; then
  while left; do sleep 0.2; done
fi
# Slurm reports a signal otherwise than an exit with its code. Bash says nothing of signals that
# have a trap; an exit with their codes counts as one.
case $code in
  129|130|131|138|140|143) signal=$((code - 128)) ;;
  *) [ "$code" -le 128 ] || [ ! -s "$notes" ] || signal=$((code - 128)) ;;
esac
[ "$notes" = /dev/null ] || rm -f "$notes"
if [ -n "$signal" ]; then
  ulimit -c 0 # the program's core is enough
  trap - HUP INT QUIT USR1 USR2 TERM
  kill "-$signal" $$
fi
exit "$code"
