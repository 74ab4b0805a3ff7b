
# Slurm's --signal=B:… and scancel --batch signal this shell, which passes it on to the script.
pass_on() { [ -z "$step" ] || kill -s "$1" -- "$step" 2> /dev/null; }
for name in HUP INT QUIT USR1 USR2; do trap "pass_on $name" "$name"; done
