"""The shell of a terminal: bash if the image has it, with the same programs as the rank.

Start-up files may put other programs first in the path, as pyenv and conda do; ``python`` would
then be another program than in the rank. So the user's file is read for its prompt and aliases, and
afterwards these variables get the values that they have in the rank.
"""

KEPT_VARIABLES = "PATH PYTHONPATH PYTHONHOME LD_LIBRARY_PATH VIRTUAL_ENV CONDA_PREFIX"
BASH = f"""
for name in {KEPT_VARIABLES}; do
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
