"""Failures of the program itself: its imports, its arguments, its processes."""

from workloads.diagnosis.base import FailureClass, Fault, Weight

CODE = (
    FailureClass(
        "import-error",
        "Import failed",
        Fault.ENVIRONMENT,
        "A package is there, but not in the version that the program needs, or a library that it "
        "loads is missing.",
        "Pin the versions the program was written for in the image; a file of your own must not "
        "have the name of a package.",
        line_patterns=(
            r"cannot import name|partially initialized module",
            r"ImportError: .*(?:\.so|GLIBC|undefined symbol|requires|DLL)",
            r"operator \w+::\w+ does not exist",
            r"\.so[.\d]*: cannot open shared object file|undefined symbol: "
            r"|version `GLIBC\S* not found",
            r"(?:numpy\.dtype|numpy\.ufunc) size changed|compiled using NumPy 1\.x cannot be run",
            r"(?:PackageNotFoundError|DistributionNotFound|VersionConflict"
            r"|ContextualVersionConflict)",
        ),
        exceptions=("ImportError",),
    ),
    FailureClass(
        "module-missing",
        "Python module missing",
        Fault.ENVIRONMENT,
        "The program imports a Python module that the image does not have.",
        "Choose an image that has the module, or install it before the program starts; for a "
        "module of your own check the working directory and PYTHONPATH.",
        line_patterns=(
            r"(?:^|python[\d.]*: |Error: )No module named ",
            r"Error while finding module specification",
        ),
        exceptions=("ModuleNotFoundError",),
    ),
    FailureClass(
        "pickling",
        "Cannot be sent to a process",
        Fault.PROGRAM,
        "Something that is sent to another process cannot be pickled, such as a lambda or an "
        "open file.",
        "Define functions and classes at the top of a module, and open files and connections in "
        "the worker.",
        line_patterns=(
            r"[Cc]an(?:'t|not) pickle|cannot be pickled|Can't get local object|cannot serialize",
            r"Can't get attribute '.*' on <module",
        ),
        exceptions=("PicklingError",),
    ),
    FailureClass(
        "arguments",
        "Arguments not understood",
        Fault.PROGRAM,
        "The program refused its command line.",
        "Compare the arguments of the environment with the program's usage, then Copy & edit.",
        line_patterns=(
            r"^[\w./\- ]+: error: (?:the following arguments|argument |unrecognized|ambiguous"
            r"|one of|expected|invalid)",
            r"error: (?:unrecognized arguments|argument -|the following arguments)"
            r"|^(?:Error: )?(?:No such (?:option|command)|Missing (?:option|argument)"
            r"|Invalid value for)\b",
            r"(?:unrecognized|unknown|invalid|illegal) (?:option|flag|argument)s?\b(?::| (?!\())"
            r"|[Uu]nknown command[- ]line flag",
            r"Could not consume arg|FATAL Flags|UnrecognizedFlagError"
            r"|not used by the HfArgumentParser",
        ),
    ),
    FailureClass(
        "configuration",
        "Configuration refused",
        Fault.PROGRAM,
        "The program refused its configuration.",
        "Correct the key or value that the line names.",
        line_patterns=(
            r"(?:hydra|omegaconf)\.errors\.\w+|Could not override|is not in struct",
            r"[Cc]annot find (?:primary )?config\b|Missing mandatory value",
            r"keys? are not used by|[Uu]nknown flags? in \w+_FLAGS\b",
            r"yaml\.(?:scanner|parser|constructor)\.\w+|mapping values are not allowed here",
            r"pydantic\S*ValidationError|\b\d+ validation errors? for [A-Z_]"
            r"|jsonschema\S*ValidationError",
            r"(?:configparser|tomllib|toml)\.\w*Error|ConfigAttributeError|ConfigKeyError",
        ),
        frame_patterns=(
            r"in _load_tf_config(?:.*\n)+.*JSONDecodeError",
            # What is converted was named as a setting.
            r"\b(?:json\.loads?|float|int)\((?=.*(?:environ|\bargs?\.|argv|cfg|config|settings))"
            r"(?:.*\n)+.*(?:JSONDecodeError|could not convert string|invalid literal for int)",
        ),
        error_line_patterns=(r"[Uu]nknown (?:objective|parameter|configuration|setting|key)\b",),
    ),
    FailureClass(
        "syntax-error",
        "Syntax error",
        Fault.PROGRAM,
        "Python, or the shell, cannot read the program.",
        "Correct the line; syntax that is newer than the image's Python also looks like this.",
        line_patterns=(r"[Ss]yntax error(?: near|:)|unexpected EOF while looking",),
        exceptions=("SyntaxError", "IndentationError", "TabError"),
    ),
    FailureClass(
        "interrupted",
        "Interrupted",
        Fault.PROGRAM,
        "The program was interrupted (SIGINT).",
        "Look in the event history for who; if nobody did, start it again.",
        exceptions=("KeyboardInterrupt",),
        weight=Weight.SYMPTOM,
        signals=frozenset({2}),
    ),
    FailureClass(
        "bus-error",
        "Bus error",
        Fault.ENVIRONMENT,
        "A process touched memory that has nothing behind it: shared memory or a disk is full, or "
        "a mapped file was cut.",
        "Turn on Increase shared memory in the compute resource, and check whether a disk is full.",
        line_patterns=(r"\bBus error\b|SIGBUS|exitcode: -7\)|Signal(?: code)?:? Bus error",),
        weight=Weight.SYMPTOM,
        signals=frozenset({7}),
    ),
    FailureClass(
        "segmentation-fault",
        "Segmentation fault",
        Fault.PROGRAM,
        "Compiled code accessed memory outside its own.",
        "Suspect compiled extensions that do not fit the installed torch or Python; run with "
        "python -X faulthandler to see the Python line.",
        line_patterns=(r"[Ss]egmentation fault|SIGSEGV|exitcode: -11\)|exited on signal 11",),
        weight=Weight.SYMPTOM,
        signals=frozenset({11}),
    ),
    FailureClass(
        "illegal-instruction",
        "Wrong processor",
        Fault.ENVIRONMENT,
        "The program was built for another type of processor.",
        "Choose an image for the architecture of the nodes, or nodes of that architecture.",
        line_patterns=(
            r"[Ee]xec format error|[Ii]llegal instruction|SIGILL|compiled to use \w+ instructions",
        ),
        signals=frozenset({4}),
    ),
    FailureClass(
        "recursion",
        "Recursion too deep",
        Fault.PROGRAM,
        "A function calls itself without end.",
        "Look at the function that the traceback repeats.",
        line_patterns=(
            r"maximum recursion depth exceeded|(?:from|[Ee]rror.*) [Ss]tack overflow"
            r"|[Ss]tack overflow detected|has overflowed its stack",
        ),
        exceptions=("RecursionError",),
    ),
    FailureClass(
        "aborted",
        "Aborted",
        Fault.PROGRAM,
        "A library hit a state it cannot continue from, and ended the process.",
        "Read the lines above: the library says what it found.",
        line_patterns=(
            r"terminate called (?:after|without)|Fatal Python error|SIGABRT|exitcode: -6\)",
            r"MPI_ABORT was invoked",
            r"double free|^(?:free|malloc|realloc)\w*\(\): |corrupted (?:size|top|double)"
            r"|stack smashing",
            r"^\s*Aborted\b|: +\d+ Aborted\b|core dumped",
        ),
        weight=Weight.ECHO,
        signals=frozenset({6}),
    ),
    FailureClass(
        "process-limit",
        "Too many processes",
        Fault.ENVIRONMENT,
        "The container may start no more processes or threads.",
        "Use fewer data loader workers and threads (OMP_NUM_THREADS), or ask for a higher limit of "
        "processes.",
        line_patterns=(
            r"can't start new thread|[Rr]esource temporarily unavailable|pthread_create (?:failed"
            r"|error)",
            r"fork: (?:retry|Resource|Cannot)|std::system_error|Thread creation failed",
        ),
    ),
)
ANYTHING = (
    FailureClass(
        "assertion",
        "Assertion failed",
        Fault.PROGRAM,
        "A check of the program's own failed.",
        "Read the check in the line that the traceback names.",
        line_patterns=(r"Assertion [`'\"].*[`'\"] failed|[Aa]ssertion failed[:!]",),
        exceptions=("AssertionError",),
        weight=Weight.PLAIN,
    ),
    FailureClass(
        "exception",
        "Uncaught exception",
        Fault.PROGRAM,
        "The program raised an exception that nothing handled.",
        "Read the traceback: its last line says what, the line above it where.",
        line_patterns=(
            r"^(?:[A-Za-z_]\w*\.)*_?[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Failure"
            r"|Fault)\b(?::\s|\s*$)",
        ),
        weight=Weight.PLAIN,
    ),
)
