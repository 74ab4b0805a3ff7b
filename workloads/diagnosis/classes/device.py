"""Failures of accelerators and of memory."""

from spec.phases import Reason
from workloads.diagnosis.base import FailureClass, Fault, Weight

CLASSES = (
    FailureClass(
        "cuda-out-of-memory",
        "GPU out of memory",
        Fault.PROGRAM,
        "The training needed more memory than its GPU has free.",
        "Make the batch smaller, accumulate gradients, use lower precision or activation "
        "checkpointing, shard the model over more GPUs, or ask for a GPU with more memory.",
        line_patterns=(
            r"CUDA out of memory",
            r"(?:CUDA|HIP) error:? \(?out of memory|Cuda failure \d* ?'out of memory'",
            # cudaGetErrorString says no more than this, with the place that a macro adds.
            r"(?:GPUassert|\bCUDA\b.{0,40}|\bcuda\w*\W.{0,40}): out of memory"
            r"|: out of memory\b.{0,80}\.cuh?\b|\.cuh?\b.{0,80}\bout of memory\b",
            r"Failed to CUDA \w*alloc",
            r"cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|hipErrorOutOfMemory",
            r"OutOfMemoryError: (?:HIP|MPS|XPU)|MPS backend out of memory|cupy\S*OutOfMemoryError",
            r"[Nn]o available memory for the cache blocks|larger than the .*\bKV cache\b",
            r"OOM when allocating tensor|Out of memory error on GPU",
            r"RESOURCE_EXHAUSTED: Out of memory",
            r"CUBLAS_STATUS_ALLOC_FAILED|CUDNN_STATUS_ALLOC_FAILED",
            r"Check failed: .*cudaMalloc|(?:thrust|rmm)::.*bad_?alloc.*(?:cuda|memory allocation)",
            r"[Mm]emory allocation error on (?:worker|device)",
        ),
        exceptions=("ResourceExhaustedError",),
    ),
    FailureClass(
        "illegal-memory-access",
        "Illegal GPU memory access",
        Fault.PROGRAM,
        "A GPU kernel accessed memory outside its own.",
        "Run once with CUDA_LAUNCH_BLOCKING=1 to see which call it is; suspect custom kernels, "
        "indexes out of range, and versions of extensions that do not match torch.",
        line_patterns=(
            r"illegal memory access|CUDA_ERROR_ILLEGAL_ADDRESS|cudaErrorIllegalAddress",
            # cudaGetErrorString has these words, whatever a program puts before them.
            r"\bmisaligned address\b|unspecified launch failure"
            r"|an illegal instruction was encountered|CUDA error:? an illegal instruction",
            r"CUDA_ERROR_LAUNCH_FAILED|cudaErrorLaunchFailure",
            r"operation not supported on global/shared address space",
            r"cudaError(?:MisalignedAddress|InvalidAddressSpace|IllegalInstruction|InvalidPc)\b",
            r"CUDA_ERROR_(?:MISALIGNED_ADDRESS|INVALID_ADDRESS_SPACE|ILLEGAL_INSTRUCTION)",
            r"Invalid __(?:global|shared|local)__ (?:read|write|atomic)",
        ),
    ),
    FailureClass(
        "device-assert",
        "Assertion on the GPU",
        Fault.PROGRAM,
        "A check inside a GPU kernel failed; nearly always an index or a label is out of range.",
        "Check that labels are below the number of classes and token ids below the size of the "
        "vocabulary; the same batch on the CPU names the line.",
        line_patterns=(
            r"device-side assert triggered|cudaErrorAssert|CUDA_ERROR_ASSERT",
            r"\.cuh?:\d+: .*Assertion `.*` failed",
        ),
    ),
    FailureClass(
        "kernel-resources",
        "Kernel too large for the GPU",
        Fault.PROGRAM,
        "A kernel needs more shared memory, registers or threads than a block may have on this "
        "GPU.",
        "Use smaller blocks, or fewer stages and warps; what was tuned for another type of GPU "
        "may not fit on this one.",
        line_patterns=(
            # Not in the middle of a line: so torch.compile names a kernel that it does without.
            r"^[\w.]*OutOfResources: |^[\w.]+Error: .*out of resource: ",
            r"too many resources requested for launch|[Ll]aunchOutOfResources"
            r"|CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
            r"invalid configuration argument|cudaErrorInvalidConfiguration",
            r"ptxas error .*uses too much shared data",
        ),
    ),
    FailureClass(
        "cuda-fork",
        "CUDA used after a fork",
        Fault.PROGRAM,
        "A forked process uses CUDA, which its parent had started before.",
        "Start processes by spawn or forkserver (multiprocessing_context of the DataLoader), or "
        "use no GPU before they start and none in data loader workers.",
        line_patterns=(
            r"Cannot re-initialize CUDA in forked subprocess",
            r"CUDA error:? \(?initialization error|cudaErrorInitializationError"
            r"|CUDA_ERROR_NOT_INITIALIZED",
        ),
    ),
    FailureClass(
        "cuda-mismatch",
        "CUDA version mismatch",
        Fault.ENVIRONMENT,
        "The CUDA libraries in the image, the program and the node's driver do not fit together.",
        "Choose an image whose CUDA version the node's driver supports and whose torch was built "
        "for this type of GPU; rebuild extensions against that torch.",
        line_patterns=(
            r"driver version is insufficient|forward compatibility was attempted",
            r"no kernel image is available|invalid device function",
            r"NVIDIA driver on your system is too old",
            r"unsupported (?:toolchain|PTX)|PTX was compiled with an unsupported",
            r"lib(?:cuda|cudart|cudnn|cublas|cublasLt|nccl|nvrtc|nvJitLink|cusparse)\w*\.so\S*: "
            r"(?:cannot open|undefined symbol|version)",
            r"(?:cuDNN|CUDNN)\S* (?:version (?:incompatibility|mismatch)"
            r"|.*compiled against .* but)",
            r"detected CUDA version .* mismatches the version",
            r"cuda runtime error \(35\)|CUDA_ERROR_NO_BINARY_FOR_GPU"
            r"|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
            r"Driver/library version mismatch",
        ),
    ),
    FailureClass(
        "gpu-hardware",
        "GPU hardware error",
        Fault.CLUSTER,
        "The GPU, its memory or its link reported a hardware error.",
        "Start it again on another node, and tell the cluster's administrator the node and the "
        "time: the GPU needs a reset or a replacement.",
        line_patterns=(
            r"uncorrectable (?:NVLink|ECC)(?!.*\W0\s*$)|ECC error encountered"
            r"|CUDA_ERROR_ECC_UNCORRECTABLE",
            r"NVRM: Xid|\bXid \(PCI",
            r"GPU is lost|fallen off the bus|hardware stack error|CUDA_ERROR_HARDWARE",
            r"CUDA error:? (?:unknown error|system not yet initialized)",
        ),
    ),
    FailureClass(
        "gpu-busy",
        "GPU in use by others",
        Fault.CLUSTER,
        "The GPU was given to this rank, but another process holds it.",
        "Tell the cluster's administrator the node: an earlier process may still be running "
        "there, or "
        "the GPU is in exclusive mode.",
        line_patterns=(
            r"devices?\(?s?\)? (?:is/)?(?:are|is) busy or unavailable|CUDA_ERROR_DEVICE_UNAVAIL",
        ),
    ),
    FailureClass(
        "no-gpu",
        "No GPU",
        Fault.ENVIRONMENT,
        "The program needs a GPU and finds none.",
        "Ask for GPUs in the compute resource, and use an image whose torch, TensorFlow or JAX "
        "is built for them. Without GPUs use the CPU and the gloo backend.",
        line_patterns=(
            r"No CUDA GPUs are available|(?<!CUDA_ERROR_NO_DEVICE: )no CUDA-capable device is"
            r" detected",
            r"Found no NVIDIA driver|not compiled with CUDA enabled",
            r"(?<!cuInit: )CUDA_ERROR_NO_DEVICE|cudaErrorNoDevice|No visible GPU devices"
            r"|[Nn]o GPU (?:was )?found",
            r"torch\.cuda\.is_available\(\) is False",
            r"Unable to initialize backend '(?:cuda|gpu|rocm|tpu)'",
            r"doesn't have NCCL built in|not built with NCCL",
            r"ProcessGroupNCCL is only supported with GPUs",
            r"nvidia-container-cli: (?:initialization|detection) error|[Cc]ould not select device"
            r" driver|NVIDIA-SMI has failed|[Nn]o GPU resources found",
            r"[Nn]o supported (?:gpu|GPU|cuda|CUDA)|support (?:bf16|fp16|tf32)/gpu",
            r"only (?:be used|supported|available) (?:on|with) (?:a )?(?:GPU|CUDA|cuda)",
            r"(?:GPU|CUDA) Tree Learner was not enabled|No OpenCL device"
            r"|[Uu]nknown backend:? '?(?:cuda|gpu|rocm)",
            r"satisfy (?:explicit )?device specification '\S*GPU",
        ),
        error_line_patterns=(
            r"without GPU support|(?i:cuda) is (?:not available|required)|CUDA not available",
        ),
    ),
    FailureClass(
        "gpu-index",
        "GPU number out of range",
        Fault.PROGRAM,
        "The program asked for a GPU by a number that this rank does not have.",
        "Use LOCAL_RANK for the number of the GPU, not RANK, and start as many processes in a "
        "pod as it has GPUs.",
        line_patterns=(
            r"invalid device ordinal|cudaErrorInvalidDevice|Invalid device id",
            r"CUDA device \d+ but torch\.cuda\.device_count\(\) is \d",
            r"You requested gpu: \[|But your machine only has: \[",
        ),
    ),
    FailureClass(
        "duplicate-gpu",
        "Two ranks on one GPU",
        Fault.PROGRAM,
        "Two ranks of the gang chose the same GPU, which NCCL refuses.",
        "Call torch.cuda.set_device(LOCAL_RANK) before you create the process group, and start as "
        "many processes in a pod as it has GPUs.",
        line_patterns=(r"Duplicate GPU detected",),
    ),
    FailureClass(
        "gpu-library",
        "GPU library failed",
        Fault.ENVIRONMENT,
        "cuBLAS, cuDNN or another library of the GPU failed.",
        "Most often the GPU's memory is nearly full or the library does not fit the driver: try "
        "a smaller batch, then another image.",
        line_patterns=(
            r"\bCU(?:BLAS|DNN|SPARSE|SOLVER|RAND)_STATUS_(?!SUCCESS\b)\w+|\bmiopenStatus(?!Success)",
            r"\b(?:cuFFT|cuBLAS|cuDNN|cuSOLVER|rocBLAS|MIOpen) [Ee]rror: "
            r"|DNN library initialization failed",
        ),
        # What a kernel did before, or the memory that is full, may be why.
        weak_patterns=(
            r"_STATUS_(?:INTERNAL_ERROR|EXECUTION_FAILED|NOT_INITIALIZED|MAPPING_ERROR)",
        ),
    ),
    FailureClass(
        "dataloader-killed",
        "Data loader worker killed",
        Fault.PROGRAM,
        "A worker process of the data loader was killed, most often because memory ran out.",
        "Use fewer or smaller loader workers, or ask for more CPU memory in the compute resource.",
        line_patterns=(
            r"DataLoader worker \(pid\S* [\d, ]+\) (?:exited unexpectedly"
            r"|is killed by signal: (?!Bus))",
        ),
    ),
    FailureClass(
        "shared-memory",
        "Shared memory too small",
        Fault.ENVIRONMENT,
        "The workers of the data loader ran out of shared memory (/dev/shm).",
        "Turn on Increase shared memory in the compute resource, or use fewer loader workers.",
        line_patterns=(
            r"insufficient shared memory|out of shared memory|raise your shared memory limit",
            r"unable to (?:open|mmap|write to|allocate) .*(?:shared memory|shm)"
            r"(?!.*(?:Too many open files|Permission denied))"
            r"|shm_open\S* (?:failed|error)|(?:[Uu]nable|[Ff]ailed|Error).*\bshm_open",
            r"(?:No space left on device|Cannot allocate).*/dev/shm|/dev/shm.*(?:No space left"
            r"|too small)",
            r"Error while creating shared memory segment",
        ),
    ),
    FailureClass(
        "host-out-of-memory",
        "Out of memory",
        Fault.PROGRAM,
        "A process was killed or refused memory: the memory of its container or node ran out.",
        "Ask for more CPU memory in the compute resource, load less at once, or use fewer data "
        "loader workers.",
        line_patterns=(
            r"^\s*Killed\s*$|: +(?:line \d+: +)?\d+ Killed\b|\bKilled +(?:python|torchrun|bash"
            r"|\./)",
            r"(?<![/\w])(?:[Oo]om[-_]?[Kk]ill(?:ed|er)?|OOM ?Killed)\b(?! 0\b|/)|: Out Of Memory$",
            r"[Ee]xceed(?:ed|ing) (?:job |step )?memory limits?"
            r"|killed due to (?:the node running low on memory|memory pressure)",
            r"Out of memory: Kill|[Mm]emory cgroup out of memory",
            r"Unable to allocate [\d.]+ [KMGTP]iB for an array",
            r"can't allocate memory|not enough memory: you tried",
            # Memory that an InfiniBand card may not lock is another matter.
            r"^(?!.*(?:NCCL WARN|\bibv_)).*[Cc]annot allocate memory",
            r"std::bad_alloc|java\.lang\.OutOfMemoryError|heap out of memory",
        ),
        exceptions=("MemoryError", "_ArrayMemoryError", "ArrowMemoryError"),
        reasons=frozenset({Reason.OUT_OF_MEMORY}),
    ),
    FailureClass(
        "killed",
        "Killed",
        Fault.PROGRAM,
        "A process got SIGKILL, most often because memory ran out.",
        "Ask for more CPU memory in the compute resource, or load less at once; if memory was "
        "not short, look in the event history for who stopped it.",
        line_patterns=(
            r"Signal 9 \(SIGKILL\)|exited on signal 9|failed \(exitcode: -9\)|exit code:? 137\b",
        ),
        exceptions=("KilledWorker",),
        weight=Weight.SYMPTOM,
        signals=frozenset({9}),
    ),
)
