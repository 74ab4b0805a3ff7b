"""The shell of a terminal: bash where there is one, with the programs that the rank itself has.

The start-up file of whoever the rank runs as may put other programs first, as pyenv and conda do:
``python`` would then be another one than the rank's. So it is read, for its prompt and aliases, and
after it these variables are set back to what the rank has.
"""

KEPT = "PATH PYTHONPATH PYTHONHOME LD_LIBRARY_PATH VIRTUAL_ENV CONDA_PREFIX"
BASH = f"""
for name in {KEPT}; do
  if [ -n "${{!name+x}}" ]; then kept="$kept export $name=$(printf %q "${{!name}}");"
  else kept="$kept unset $name;"; fi
done
exec bash --rcfile <(printf '%s\\n' '[ -r ~/.bashrc ] && . ~/.bashrc' \\
  "$kept" 'unalias python python3 pip 2>/dev/null; hash -r')
"""
SHELL = (
    *("/bin/sh", "-c"),
    'command -v bash >/dev/null 2>&1 && exec bash --norc -c "$0"; exec sh',
    BASH,
)
