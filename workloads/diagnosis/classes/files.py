"""Failures of files: disks, data and checkpoints."""

from spec.phases import Reason
from workloads.diagnosis.base import FailureClass, Fault, Weight

CHECKPOINT = r"(?i:checkpoint|ckpt|snapshot|safetensors|\.pth?\b|\.bin\b.*model|pytorch_model)"
GONE = r"(?:No such file or directory|does not exist|not found|doesn't exist|[Cc]an(?:'t|not) find)"

CLASSES = (
    FailureClass(
        "disk-quota",
        "Disk quota exceeded",
        Fault.DATA,
        "The volume's quota of space or of files is used up.",
        "Delete what is no longer needed there, such as old checkpoints, or ask for more.",
        line_patterns=(r"[Dd]isk quota exceeded|EDQUOT|[Qq]uota exceeded.*(?:disk|volume|inode)",),
    ),
    FailureClass(
        "disk-full",
        "Disk full",
        Fault.DATA,
        "The disk or volume that the program writes to has no space left.",
        "Delete old checkpoints, keep fewer of them, write to a larger volume, or give the "
        "container more ephemeral storage.",
        line_patterns=(
            r"No space left on device|ENOSPC|[Dd]isk (?:is )?full|not enough (?:free )?disk space",
            r"\d+ requested and \d+ written|[Ww]rote only \d+ of \d+ bytes",
            r"enforce fail at inline_container.*unexpected pos|PytorchStreamWriter failed writing",
            r"(?:ephemeral|local) storage .*exceed|database or disk is full",
        ),
    ),
    FailureClass(
        "read-only",
        "Read-only file system",
        Fault.ENVIRONMENT,
        "The program writes where it may only read.",
        "Write to a volume that is mounted for writing, such as CHECKPOINT_DIR; set HOME, TMPDIR "
        "and cache folders to it.",
        line_patterns=(r": read-only file ?system|Read-only file ?system|EROFS",),
    ),
    FailureClass(
        "too-many-files",
        "Too many open files",
        Fault.PROGRAM,
        "The process holds more files or sockets open than it may.",
        "Close files, use fewer data loader workers, or call "
        "torch.multiprocessing.set_sharing_strategy('file_system').",
        line_patterns=(r"[Tt]oo many open files|EMFILE|received 0 items of ancdata",),
    ),
    FailureClass(
        "storage-failure",
        "Storage failed",
        Fault.CLUSTER,
        "A volume stopped answering while the program used it.",
        "Start it again; if it happens again tell the cluster's administrator the volume and the "
        "node.",
        line_patterns=(
            r"[Ss]tale (?:NFS )?file handle|ESTALE|Input/output error|Errno 5\]",
            r"Transport endpoint is not connected|transport endpoint shutdown|Remote I/O error"
            r"|[Nn]fs.* server .*not responding",
            r"Structure needs cleaning",
        ),
    ),
    FailureClass(
        "checkpoint-damaged",
        "Checkpoint damaged",
        Fault.DATA,
        "A checkpoint or model file is damaged, cut short, or has another format.",
        "Go back to an older checkpoint, download the file again (a Git LFS pointer is not the "
        "file), and write aside and rename when saving.",
        line_patterns=(
            r"PytorchStreamReader failed|failed finding central directory|invalid magic number"
            r"|corrupted file\?",
            r"(?:UnpicklingError|invalid load key|[Uu]nexpected EOF, expected"
            r"|storage has wrong byte size)",
            r"(?:Safetensor|safetensors)\w*Error|HeaderTooLarge|MetadataIncompleteBuffer"
            r"|InvalidHeader",
            r"EOFError: Ran out of input",
            r"Weights only load failed|WeightsUnpickler error|Unable to open file.*truncated",
            r"(?:DataLossError|DATA_LOSS).*(?:checkpoint|table)"
            r"|[Cc]heckpoint .*(?:is )?(?:corrupt|damaged|incomplete)",
        ),
        frame_patterns=(r"PyTorchFileReader\((?:.*\n)+OSError: \[Errno 22\]",),
    ),
    FailureClass(
        "checkpoint-mismatch",
        "Checkpoint of another model",
        Fault.PROGRAM,
        "The checkpoint's tensors are not those of the model.",
        "Load it into the model it was saved from: same sizes, same wrapping (the prefix "
        "'module.' comes from DDP), same number of shards.",
        line_patterns=(
            r"Error\(s\) in loading state_dict|(?:Missing|Unexpected) key\(s\) in state_dict",
            r"objects could not be loaded|You set `ignore_mismatched_sizes` to"
            r"|adding `ignore_mismatched_sizes=True`",
            r"size mismatch for [\w.]+: copying a param|loaded state dict (?:has|contains)",
            r"(?:ValueError|KeyError).*(?:optimizer|state_dict).*(?:group|match|missing)",
            r"[Cc]heckpoint.*(?:shape|structure|tree|world size).*(?:mismatch|differ"
            r"|does not match|expected)",
            r"NotFoundError.*Key \S+ not found in checkpoint",
            r"(?:Missing|Unexpected) keys? in checkpoint|value from checkpoint .* is not equal",
            r"used a \w+ world size of \d+ but|Size mismatch between saved .* and current",
            r"restore .*tree structures do not match|state dict keys do not match"
            r"|attempting to restore variable with shape",
        ),
    ),
    FailureClass(
        "checkpoint-missing",
        "Checkpoint missing",
        Fault.DATA,
        "The checkpoint or model to start from was not found.",
        "Check its path and that the volume it is on is mounted; checkpoints of another workload "
        "are in that workload's folder.",
        line_patterns=(
            r"File not found: filepath=|[Cc]ould not open \S*model\S*$",
            r"no file named (?:pytorch_model|model|tf_model)|not appear to have a file named",
            r"Can't load (?:the )?(?:tokenizer|model|configuration|config|image processor"
            r"|feature extractor|processor) (?:for|of) '",
            r"Repo id must (?:be in the form|use alphanumeric)|Incorrect path_or_model_id",
            r"Can't find a valid checkpoint at",
        ),
        error_line_patterns=(
            rf"{CHECKPOINT}.*{GONE}|{GONE}.*{CHECKPOINT}",
            r"[Nn]o (?:valid )?checkpoints? (?:was |were )?found (?:in|at|under)",
        ),
    ),
    FailureClass(
        "data-missing",
        "Data not found",
        Fault.DATA,
        "The dataset is missing, empty, or not where the program looks.",
        "Check the path, that the data source is mounted there, and that it holds files.",
        line_patterns=(
            r"training requires a train_dataset",
            r"[Dd]ataset not found|DatasetNotFoundError|[Dd]ata ?set .* (?:doesn't exist"
            r"|does not exist|not found|is empty)",
            r"num_samples should be a positive integer|[Ff]ound (?:0|no) (?:files|images|samples"
            r"|valid)\b(?! (?:with|to|that)\b)",
            r"Couldn't find (?:any )?(?:file|a dataset|data)|(?:No|no) (?:data )?files? (?:found"
            r"|matched|match)",
            r"NoSuchKey|NoSuchBucket|specified (?:key|bucket) does not exist|NoSuchUpload",
            r"(?:FileNotFoundError|No such file).*/(?:data|datasets?)/"
            r"|can use download=True to download",
            r"empty (?:data ?set|data ?loader|iterator)|Matrix is empty|Empty dataset",
        ),
        error_line_patterns=(
            r"\b(?:train|val|test)(?:ing)? (?:data|split|set|folder|directory).*"
            r"(?:not found|missing|does not exist|empty)",
        ),
    ),
    FailureClass(
        "data-damaged",
        "Data damaged",
        Fault.DATA,
        "A file of the dataset is damaged or has another format.",
        "Replace the file that the line names, or let the loader skip files that it cannot read.",
        line_patterns=(
            r"UnidentifiedImageError|cannot identify image file|image file is truncated"
            r"|Truncated (?:File|image)",
            r"JSONDecodeError|UnicodeDecodeError|pandas\.errors\.(?:Parser|EmptyData)Error"
            r"|Error tokenizing data",
            r"BadZipFile|not a (?:zip|gzip)|zlib\.error|tarfile\.ReadError"
            r"|EOFError: Compressed file|\b(?:gzip|xz|zstd|tar): .*[Uu]nexpected (?:EOF"
            r"|end of (?:file|input))|CRC.*(?:fail|mismatch)",
            r"Unknown image file format|Invalid (?:JPEG|PNG|GIF|BMP) data",
            r"BadGzipFile|not in gzip format|not look like a tar archive",
            r"contains pickled \(object\) data|containing pickled (?:\(object\) )?data"
            r"|Object arrays cannot be loaded when allow_pickle=False",
            r"ArrowInvalid|[Pp]arquet.*(?:[Mm]agic|corrupt|invalid|minimum file footer)"
            r"|corrupted record at"
            r"|DataLossError|DATA_LOSS",
            r"(?:MD5|SHA|[Hh]ash|[Cc]hecksum).*(?:mismatch\b|not match\b|corrupt)"
            r"|NonMatchingSplitsSizesError",
            r"could not convert string to float|Unable to (?:synchronously )?open file"
            r"|file signature not found",
        ),
    ),
    FailureClass(
        "permission-denied",
        "Permission denied",
        Fault.ENVIRONMENT,
        "The program may not read, write or execute a file.",
        "Check the owner and mode of the file, and the user and group (UID, GID) that the "
        "environment runs as.",
        line_patterns=(r"[Pp]ermission denied|EACCES|Operation not permitted|PermissionError",),
        codes=frozenset({126}),
    ),
    FailureClass(
        "command-not-found",
        "Command not found",
        Fault.ENVIRONMENT,
        "The command does not exist in the image.",
        "Check the command in the environment and that the image has it on the PATH, then "
        "Copy & edit.",
        line_patterns=(
            r"command not found|(?:sh|: \d+): \S+: not found$|executable file"
            r" not found|exec: .*(?:no such file|not found)",
            r"[Cc]annot run program|env: .*: No such file or directory|bad interpreter",
            r"unable to (?:find|launch) the specified (?:executable|application)"
            r"|could not (?:access|find) (?:or execute )?an? executable",
            r"failed to (?:run|execute) (?:command )?.*: No such file|: required file not found",
            r"(?:command|execute) '\S+'(?: failed)?: No such file|execve\(\): .*: No such file"
            r"|Ninja is required to load|Failed to find C compiler",
        ),
        codes=frozenset({127}),
        reasons=frozenset({Reason.COMMAND_NOT_FOUND}),
    ),
    FailureClass(
        "file-not-found",
        "File not found",
        Fault.PROGRAM,
        "The program opens a file or folder that does not exist.",
        "Check the path, the working directory and what is mounted where.",
        line_patterns=(
            r"No such file or directory|ENOENT|NotADirectoryError|can't open file",
            r"[Uu]nable to open the hostfile",
        ),
        exceptions=("FileNotFoundError",),
        weight=Weight.PLAIN,
    ),
)
