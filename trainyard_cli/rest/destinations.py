"""Where submissions go: each kind of workload has a path of its own in REST."""

from dataclasses import dataclass

from trainyard_cli.flags.table import GANG, MPI, PYTORCH, WORKSPACE

FRAMEWORKS = {
    "pytorch": "PyTorch",
    "tensorflow": "TF",
    "tf": "TF",
    "mpi": "MPI",
    "xgboost": "XGBoost",
    "jax": "JAX",
}
LABELS = {"TF": "TensorFlow"}  # where people use another name than REST


@dataclass(frozen=True)
class Destination:
    """A kind of workload to submit. ``path`` is that of its calls, ``type`` its name in REST,
    ``noun`` what people call it, with the article."""

    path: str
    type: str
    noun: str
    framework: str = ""

    @property
    def is_gang(self) -> bool:
        """Whether it runs as several ranks."""
        return self.path == "distributed"

    @property
    def filters(self) -> tuple[str, ...]:
        """Filters with which a list has only these workloads."""
        if self.framework:
            return (f"distributedFramework=={self.framework}",)
        return (f"type=={self.type}",)

    @property
    def flag_marks(self) -> frozenset[str]:
        """Marks of the flags that these workloads have and others lack, as in ``CliFlag.only``."""
        if not self.is_gang:
            return frozenset({WORKSPACE} if self.path == "workspaces" else ())
        return frozenset({GANG, self.framework} if self.framework else {GANG, PYTORCH, MPI})


STANDARD = Destination("trainings", "Training", "a standard training")
WORKSPACES = Destination("workspaces", "Workspace", "a workspace")
DISTRIBUTED = Destination("distributed", "Distributed", "a distributed training")
#: Filters of ``trainyard training`` without another word.
TRAININGS = ("type!=Workspace",)


def gang_destination(word: str) -> Destination:
    """Return the kind of distributed training that a word for its framework means."""
    framework = FRAMEWORKS[word]
    label = framework_label(word)
    article = "an" if label[0] in "MX" else "a"  # both are spelled aloud: em-pee-eye, ex-gee-boost
    return Destination("distributed", "Distributed", f"{article} {label} training", framework)


def framework_label(word: str) -> str:
    """Return what people call the framework that a word means."""
    framework = FRAMEWORKS[word]
    return LABELS.get(framework, framework)
