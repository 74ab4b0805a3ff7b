"""Failures of the program itself: its imports, its tensors, its arguments."""

from workloads.diagnosis.base import FailureClass, Fault, Weight

TENSORS = (
    FailureClass(
        "device-mismatch",
        "Tensors on different devices",
        Fault.PROGRAM,
        "An operation got tensors of different devices.",
        "Move the model and every batch to the same device with .to(device), and make new "
        "tensors there.",
        says=(
            r"[Ee]xpected all tensors to be on the same device|at least two devices",
            r"Input type \(torch\.(?:cuda\.)?\w+\) and weight type \(torch\.(?:cuda\.)?\w+\) shoul"
            r"d be",
            r"Expected (?:object of )?(?:device type|tensor .* to be on).* (?:cuda|cpu)"
            r"|must be on the same device",
            r"Incompatible devices for jitted computation",
            r"can't convert (?:cuda|mps)\S* device type tensor to numpy",
        ),
    ),
    FailureClass(
        "dtype-mismatch",
        "Types do not match",
        Fault.PROGRAM,
        "An operation got tensors of a type it does not accept.",
        "Convert inputs to the type of the weights (for example .float(), .long() for labels), "
        "or use autocast.",
        says=(
            r"must have the same dtype|expected (?:m1 and m2|mat1 and mat2) to have the same dtype",
            r"expected (?:scalar type|target dtype|dtype|input dtype) .*(?:but|got)",
            r"[Ee]xpected .*(?:scalar types?|type Long|dtypes?).* (?:but )?(?:got|found)",
            r"not implemented for '(?:\w+)'|result type \w+ can't be cast"
            r"|can't convert np\.ndarray of type",
            r"cannot compute \w+ as input #\d+.*was expected to be a \w+ tensor but is a",
            r"requires (?:arguments|operands) to have (?:compatible|the same) (?:types|dtypes)",
        ),
    ),
    FailureClass(
        "shape-mismatch",
        "Shapes do not match",
        Fault.PROGRAM,
        "An operation got tensors whose shapes do not fit together.",
        "Print the shapes before the line that the traceback names; look at the size of the "
        "input, the last incomplete batch (drop_last) and layers after a reshape.",
        says=(
            r"shapes cannot be multiplied|size mismatch, (?:m1|got)|must match the size of tensor",
            r"expected input.{0,40} to have \d+ channels"
            r"|shape '\[.*\]' is invalid for input of size",
            r"mismatch in its core dimension|could not be broadcast|shapes? .* not aligned",
            r"[Ii]ncompatible shapes|is incompatible with the layer|[Ss]hapes? .* (?:is"
            r"|are) (?:incompatible|not compatible)",
            r"stack expects each tensor to be equal size|Sizes of tensors must match",
            r"[Ee]xpected input batch_size \(\d+\) to match target|Dimensions? (?:must be equal"
            r"|size must match)",
            r"dot_general requires|must have (?:compatible|equal|the same) (?:shapes"
            r"|number of dimensions)",
            r"Expected \d+D .*(?:but )?got|expected \d+-dimensional|Dimension out of range",
            r"setting an array element with a sequence|inhomogeneous shape",
            r"Target size .* must be the same as input size|inconsistent numbers of samples",
        ),
    ),
    FailureClass(
        "index-out-of-range",
        "Index out of range",
        Fault.PROGRAM,
        "A token, a label or an index is larger than the table that it points into.",
        "Compare the largest label with the number of classes, and the size of the tokenizer's "
        "vocabulary with that of the embedding.",
        says=(
            r"index out of range in self|Target -?\d+ is out of bounds",
            r"index -?\d+ is out of bounds|indices\[.*\] = -?\d+ is not in",
            r"[Ii]ndex.* out of bounds with size|Token indices .* out of range",
        ),
    ),
    FailureClass(
        "nan-values",
        "Loss is NaN",
        Fault.PROGRAM,
        "The loss or a gradient became NaN or infinite, and the program gave up.",
        "Lower the learning rate, clip gradients, warm up, use bfloat16 instead of float16, and "
        "look for empty or broken batches just before.",
        says=(
            r"(?i:(?:loss|gradient|grad|norm|output)s?\b.{0,40}\b(?:is|are|became|was|="
            r"|to be)\s*:?\s*"
            r"(?:nan|inf|infinite|non-?finite)\b(?!ic))",
            r"(?i:(?:nan|non-?finite|inf(?:inite)?)\b.{0,30}\b(?:loss|gradient|grad|norm"
            r"|values? detected))",
            r"returned nan values in its|contains? (?:NaN|infinity|inf or nan)"
            r"|Input .*contains NaN",
            r"Loss scaler? reached (?:its )?minimum|[Mm]inimum loss scale reached",
            r"invalid value \(nan\)|encountered in tensor.*NaN|Inf and NaN detected",
        ),
    ),
    FailureClass(
        "autograd",
        "Backward pass failed",
        Fault.PROGRAM,
        "The gradient could not be computed.",
        "Call backward once for each forward pass, do not change tensors in place that the graph "
        "needs, and keep what is trained attached to the graph.",
        says=(
            r"backward through the graph a second time|modified by an inplace operation",
            r"does not require grad and does not have a grad_fn|grad can be implicitly created",
            r"leaf Variable that requires grad|No gradients provided for any variable",
        ),
    ),
)
CODE = (
    FailureClass(
        "import-error",
        "Import failed",
        Fault.ENVIRONMENT,
        "A package is there, but not in the version that the program needs, or a library that it "
        "loads is missing.",
        "Pin the versions the program was written for in the image; a file of your own must not "
        "have the name of a package.",
        says=(
            r"cannot import name|partially initialized module",
            r"ImportError: .*(?:\.so|GLIBC|undefined symbol|requires|DLL)",
            r"\.so[.\d]*: cannot open shared object file|undefined symbol: "
            r"|version `GLIBC\S* not found",
            r"(?:numpy\.dtype|numpy\.ufunc) size changed|compiled using NumPy 1\.x cannot be run",
            r"(?:PackageNotFoundError|DistributionNotFound|VersionConflict"
            r"|ContextualVersionConflict)",
        ),
        raises=("ImportError",),
    ),
    FailureClass(
        "module-missing",
        "Python module missing",
        Fault.ENVIRONMENT,
        "The program imports a Python module that the image does not have.",
        "Choose an image that has the module, or install it before the program starts; for a "
        "module of your own check the working directory and PYTHONPATH.",
        says=(r"No module named ", r"Error while finding module specification"),
        raises=("ModuleNotFoundError",),
    ),
    FailureClass(
        "pickling",
        "Cannot be sent to a process",
        Fault.PROGRAM,
        "Something that is sent to another process cannot be pickled, such as a lambda or an "
        "open file.",
        "Define functions and classes at the top of a module, and open files and connections in "
        "the worker.",
        says=(
            r"[Cc]an(?:'t|not) pickle|cannot be pickled|Can't get local object|cannot serialize",
            r"Can't get attribute '.*' on <module",
        ),
        raises=("PicklingError",),
    ),
    FailureClass(
        "arguments",
        "Arguments not understood",
        Fault.PROGRAM,
        "The program refused its command line.",
        "Compare the arguments of the environment with the program's usage, then Copy & edit.",
        says=(
            r"^[\w./\- ]+: error: (?:the following arguments|argument |unrecognized|ambiguous"
            r"|one of|expected|invalid)",
            r"error: (?:unrecognized arguments|argument -|the following arguments)"
            r"|^Error: (?:No such (?:option|command)|Missing (?:option|argument)|Invalid value)",
            r"(?:unrecognized|unknown|invalid|illegal) (?:option|flag|argument)s?\b[: ]"
            r"|[Uu]nknown command[- ]line flag",
            r"Could not consume arg|FATAL Flags|UnrecognizedFlagError",
        ),
    ),
    FailureClass(
        "configuration",
        "Configuration refused",
        Fault.PROGRAM,
        "The program refused its configuration.",
        "Correct the key or value that the line names.",
        says=(
            r"(?:hydra|omegaconf)\.errors\.\w+|Could not override|is not in struct",
            r"yaml\.(?:scanner|parser|constructor)\.\w+|mapping values are not allowed here",
            r"pydantic\S*ValidationError|validation errors? for \w+|jsonschema\S*ValidationError",
            r"(?:configparser|tomllib|toml)\.\w*Error|ConfigAttributeError|ConfigKeyError",
        ),
    ),
    FailureClass(
        "syntax-error",
        "Syntax error",
        Fault.PROGRAM,
        "Python, or the shell, cannot read the program.",
        "Correct the line; syntax that is newer than the image's Python also looks like this.",
        says=(r"syntax error(?: near|:)|unexpected end of file|unexpected EOF while looking",),
        raises=("SyntaxError", "IndentationError", "TabError"),
    ),
    FailureClass(
        "interrupted",
        "Interrupted",
        Fault.PROGRAM,
        "The program was interrupted (SIGINT).",
        "Look in the event history for who; if nobody did, start it again.",
        raises=("KeyboardInterrupt",),
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
        says=(r"\bBus error\b|SIGBUS|exitcode: -7\)|Signal(?: code)?:? Bus error",),
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
        says=(r"[Ss]egmentation fault|SIGSEGV|exitcode: -11\)|exited on signal 11",),
        weight=Weight.SYMPTOM,
        signals=frozenset({11}),
    ),
    FailureClass(
        "illegal-instruction",
        "Wrong processor",
        Fault.ENVIRONMENT,
        "The program was built for another type of processor.",
        "Choose an image for the architecture of the nodes, or nodes of that architecture.",
        says=(
            r"[Ee]xec format error|[Ii]llegal instruction|SIGILL|compiled to use \w+ instructions",
        ),
        signals=frozenset({4}),
    ),
    FailureClass(
        "aborted",
        "Aborted",
        Fault.PROGRAM,
        "A library hit a state it cannot continue from, and ended the process.",
        "Read the lines above: the library says what it found.",
        says=(
            r"terminate called (?:after|without)|Fatal Python error|SIGABRT|exitcode: -6\)",
            r"^\s*Aborted\b|: +\d+ Aborted\b|core dumped",
        ),
        weight=Weight.ECHO,
        signals=frozenset({6}),
    ),
    FailureClass(
        "recursion",
        "Recursion too deep",
        Fault.PROGRAM,
        "A function calls itself without end.",
        "Look at the function that the traceback repeats.",
        says=(r"maximum recursion depth|[Ss]tack overflow",),
        raises=("RecursionError",),
    ),
    FailureClass(
        "process-limit",
        "Too many processes",
        Fault.ENVIRONMENT,
        "The container may start no more processes or threads.",
        "Use fewer data loader workers and threads (OMP_NUM_THREADS), or ask for a higher limit of "
        "processes.",
        says=(
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
        says=(r"Assertion [`'\"].*[`'\"] failed|[Aa]ssertion failed[:!]",),
        raises=("AssertionError",),
        weight=Weight.PLAIN,
    ),
    FailureClass(
        "exception",
        "Uncaught exception",
        Fault.PROGRAM,
        "The program raised an exception that nothing handled.",
        "Read the traceback: its last line says what, the line above it where.",
        says=(
            r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Failure"
            r"|Fault)\b(?::\s|\s*$)",
        ),
        weight=Weight.PLAIN,
    ),
)
