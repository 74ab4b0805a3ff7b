#!/bin/bash
# Runs a shell as a task. Slurm ends a task with its first process, and a shell dies of SIGTERM at
# once: the grace period is for the programs that it started, too.
asked=
trap 'asked=yes' TERM
trap : HUP INT QUIT USR1 USR2 # they are for the shell, and its programs
task=$SLURM_JOB_ID.$SLURM_STEP_ID.$SLURM_PROCID # in the environment of all of them
left() { grep -qszx "TRAINYARD_TASK=$task" /proc/[0-9]*/environ; }
exec {errors}>&2 2> /dev/null # where bash would say that a signal ended the other shell
# In the foreground, where it does not ignore SIGINT.
TRAINYARD_TASK=$task "$@" 2>&$errors {errors}>&-
code=$?
[ "$code" != 143 ] || sleep 1 # the signal may reach this shell later than the other one
[ -n "$asked" ] || exit "$code"
while left; do sleep 0.2; done
[ "$code" = 143 ] || exit "$code"
trap - TERM
kill -TERM $$ # so that Slurm reports what it would have reported of the other shell
