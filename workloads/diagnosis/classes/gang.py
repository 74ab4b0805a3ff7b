"""Failures of ranks to meet, and of collectives."""

from workloads.diagnosis.base import FailureClass, Fault, Weight

CLASSES = (
    FailureClass(
        "nccl-failure",
        "NCCL could not connect",
        Fault.CLUSTER,
        "NCCL could not set up or keep its connections between the ranks.",
        "Set NCCL_DEBUG=INFO and look at the first line with WARN; check NCCL_SOCKET_IFNAME, the "
        "network between the nodes, InfiniBand, and that all ranks use the same image.",
        line_patterns=(
            r"no socket interface found|\bInvalid NCCL_[A-Z_]+",
            r"NCCL WARN (?!.*(?:Missing|deprecated|NUMA))",
            r"NCCL error.*(?:unhandled system error|internal error|unhandled cuda error"
            r"|invalid usage)",
            r"^\W*(?:\[rank\d+\]:)?\s*nccl(?:System|Internal|UnhandledCuda|InvalidUsage)Error",
            r"ibv_\w+ failed|NET/IB : .*(?:error|failed)|Call to (?:connect|bind"
            r"|recv).* (?:failed|returned)",
            r"socket\w*Connect: Connect to .* failed|NET/IB : Got completion .*status=(?!0\b)",
            r"ncclUniqueId.*(?:failed|timeout)",
        ),
        # It is an error of CUDA, which the lines after it name.
        weak_patterns=(r"unhandled cuda error|ncclUnhandledCudaError",),
    ),
    FailureClass(
        "rendezvous-settings",
        "Rendezvous not configured",
        Fault.PROGRAM,
        "The process group was started without the settings that tell each rank who it is.",
        "Start the program with torchrun, or choose the framework in which Trainyard sets "
        "MASTER_ADDR, RANK and WORLD_SIZE; do not overwrite them.",
        line_patterns=(
            r"environment variable (?:RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT|LOCAL_RANK) expected",
            r"Default process group has not been initialized"
            r"|trying to initialize the default process group twice",
            r"KeyError: '(?:RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT|LOCAL_RANK|TF_CONFIG)'",
            r"rank .* must be less than world.?size|world_size .* does not match",
            r"coordinator_address should be defined|Number of processes must be defined",
        ),
    ),
    FailureClass(
        "tensorflow-cluster",
        "TensorFlow workers did not meet",
        Fault.CLUSTER,
        "A TensorFlow worker could not reach its peers or the parameter server.",
        "Check that every worker started, that TF_CONFIG names all of them, and that no worker "
        "failed earlier: the first to fail holds the cause.",
        line_patterns=(
            r"(?:UnavailableError|UNAVAILABLE|DeadlineExceededError).*"
            r"(?:/job:|[Cc]ollective|failed to connect to all addresses|RPC|task:\d)",
            r"/job:(?!jax)\w+/(?:replica:\d+/)?task:\d+.*(?:Connection reset|unreachable"
            r"|heartbeat|is down|restarted)",
            r"Check health failed|[Cc]ollective ops is aborted",
        ),
        error_line_patterns=(r"TF_CONFIG.*(?:invalid|missing|must)",),
    ),
    FailureClass(
        "jax-coordinator",
        "JAX ranks did not meet",
        Fault.CLUSTER,
        "The JAX processes did not all reach their coordinator.",
        "Check that every rank started and calls jax.distributed.initialize with the same "
        "coordinator and number of processes; raise initialization_timeout for slow images.",
        line_patterns=(
            r"[Bb]arrier (?:timed out|failed).*(?:PjRT_Client|tasks)",
            r"(?:coordination service|CoordinationService|RegisterTask|distributed service).*"
            r"(?:DEADLINE_EXCEEDED|UNAVAILABLE|[Tt]imed? ?out|not reachable|heartbeat)",
            r"(?:DEADLINE_EXCEEDED|UNAVAILABLE).*(?:[Cc]oordinat|RegisterTask|distributed service"
            r"|PjRT)",
            r"Terminating process because the (?:coordinator|JAX distributed service)",
        ),
    ),
    FailureClass(
        "xgboost-tracker",
        "XGBoost ranks did not meet",
        Fault.CLUSTER,
        "The XGBoost workers lost or never reached their tracker.",
        "Check that the master started and that DMLC_TRACKER_URI and the number of workers are "
        "the same everywhere; a worker that failed earlier ends the others.",
        line_patterns=(
            r"(?i:(?:fail|unable|cannot|could not|lost|timed out).*\bconnect.*\btracker\b)",
            r"\btracker\b.*(?:timed out|refused|closed the connection)"
            r"|\b[Rr]abit\b.*(?:Recv|[Ee]rror|failed|[Tt]imed? ?out)",
            r"AllreduceBase::|Allreduce failed",
            r"/collective/\w+\.cc:\d+.*(?:[Ff]ail|timeout|closed|refused)",
            r"DMLC_\w+.*(?:must|not set|expected)",
        ),
    ),
    FailureClass(
        "mpi-slots",
        "Not enough MPI slots",
        Fault.PROGRAM,
        "mpirun was asked for more processes than the workers have slots.",
        "Make -np equal to workers times slots per worker, or leave -np out.",
        line_patterns=(
            r"not enough slots available|(?:exceeds|more processes than) .*slots",
            r"unable to (?:find|allocate).* (?:slots|processors)",
        ),
    ),
    FailureClass(
        "mpi-root",
        "mpirun does not run as root",
        Fault.ENVIRONMENT,
        "Open MPI refuses to start programs as root unless two variables allow it.",
        "Set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 in the environment, or "
        "run as another user.",
        line_patterns=(r"mpi(?:run|exec) has detected an attempt to run as root",),
    ),
    FailureClass(
        "mpi-ssh",
        "MPI could not reach a worker",
        Fault.ENVIRONMENT,
        "mpirun could not start its daemon on a worker by ssh.",
        "Use an image with an ssh server for the workers, do not overwrite the keys that the "
        "operator mounts, and check that the workers run.",
        line_patterns=(
            r"ORTE (?:daemon|was unable)|PRTE (?:daemon|was unable|has lost)",
            r"Permission denied \((?:publickey|password)"
            r"|Host key verification failed",
            r"kex_exchange_identification",
            r"bash: (?:line \d+: )?(?:orted|hydra_pmi_proxy|prted): ",
            r"HYDU?_\w+.*(?:unable|fail)|unable to (?:connect|write data) to .*proxy",
        ),
    ),
    FailureClass(
        "rendezvous-timeout",
        "Ranks did not meet in time",
        Fault.CLUSTER,
        "Not all ranks of the gang arrived before the rendezvous timed out.",
        "Check whether every rank started and which one failed or was late; slow image pulls need "
        "a longer timeout, and firewalls must let the master's port through.",
        line_patterns=(
            r"[Tt]imed out after \d+ ?\w* waiting for clients",
            r"client socket has timed out|client socket has failed to connect",
            r"\b(?:\w*Store|store)\b.*(?:[Tt]imed out|[Tt]imeout (?:after|while|waiting)"
            r"|Socket Timeout)"
            r"|wait timeout after \d+ms",
            r"[Tt]imed? ?out (?:while )?(?:initializing|waiting for) .*(?:process group"
            r"|rendezvous|workers|peers|ranks)",
            r"[Rr]endezvous.*(?:timed out|timeout(?!\W*\d))|Gloo connectFullMesh failed",
            r"horovod.*(?:[Tt]imed out|waiting for (?:tasks|ranks))",
        ),
        exceptions=("RendezvousTimeoutError", "RendezvousConnectionError", "RendezvousClosedError"),
    ),
    FailureClass(
        "address-in-use",
        "Port in use",
        Fault.PROGRAM,
        "A port that the program listens on is taken.",
        "Use the MASTER_PORT that Trainyard sets, or port 0; two programs in one pod or on one "
        "node cannot share a fixed port.",
        line_patterns=(
            r"Could not start gRPC server",
            r"[Aa]ddress already in use|EADDRINUSE|WSAEADDRINUSE|[Pp]ort \d+\b.{0,20} (?:is"
            r"|was) (?:already )?in use",
        ),
    ),
    FailureClass(
        "unused-parameters",
        "Parameters without gradients",
        Fault.PROGRAM,
        "Some parameters took no part in the loss, so that DDP waits for their gradients.",
        "Pass find_unused_parameters=True to DistributedDataParallel, or leave the unused layers "
        "out.",
        line_patterns=(
            r"Expected to have finished reduction in the prior iteration",
            r"Expected to mark a variable ready only once",
            r"passing the keyword argument `find_unused_parameters"
            r"|parameters that were not used in producing the loss",
        ),
    ),
    FailureClass(
        "collectives-differ",
        "Ranks do different things",
        Fault.PROGRAM,
        "The ranks called different collectives, or with tensors of different sizes.",
        "Make sure that every rank runs the same steps: no collective inside a condition on the "
        "rank, and the same number of batches everywhere.",
        line_patterns=(
            r"Detected mismatch between collectives|Mismatched? (?:collective|allreduce|broadcast)",
            r"gloo.*op\.preamble\.length <= op\.nbytes|enforce fail .*gloo.*(?:length|nbytes)",
            r"not to match sizes of the same param|expects same model across all ranks",
            r"MPI_ERR_TRUNCATE|MPI\w*.*message truncated",
        ),
    ),
    FailureClass(
        "collective-timeout",
        "Collective timed out",
        Fault.PROGRAM,
        "A rank waited for the others in a collective until it timed out.",
        "Look at the rank that did not arrive: it failed, hangs in its data loader, or takes "
        "another branch. If all are healthy, check the network; if steps are long, raise the "
        "timeout of the process group.",
        line_patterns=(
            r"Watchdog caught collective operation timeout",
            r"[Tt]imed out waiting \d+ms for (?:recv|send)"
            r"|Some NCCL operations have failed or timed out",
            r"[Mm]onitored ?[Bb]arrier.*(?:failed|timed? ?out|did not)"
            r"|failed to pass monitoredBarrier",
            r"\bProcess ?Group \w+ timed out after",
            r"Stalled (?:ranks|tensors|ops)|[Oo]ne or more tensors were submitted to be reduced",
            r"(?:ran for|heartbeat).*(?:before timing out|monitor timed out)|HeartbeatMonitor",
        ),
        weight=Weight.SYMPTOM,
    ),
    FailureClass(
        "connection-lost",
        "Lost another rank",
        Fault.PROGRAM,
        "This rank lost the connection to another one, which ended before it.",
        "Look at the other ranks: the first to fail holds the cause. If none did, check the "
        "network between the nodes.",
        line_patterns=(
            r"Connection closed by (?:remote )?peer|[Cc]onnection reset by peer|Socket [Cc]losed",
            r"remote process exited|communicator was aborted|ncclRemoteError|[Bb]roken pipe"
            r"|ECONNRESET|EPIPE",
            r"Rank \d+ .*(?:went down|disconnected)|HorovodInternalError|peer .* (?:closed"
            r"|is gone)",
            r"recvBytes|sendBytes|failed to recv, got 0 bytes",
            r"mpirun noticed that (?!.*exited on signal)",
        ),
        weight=Weight.ECHO,
    ),
)
