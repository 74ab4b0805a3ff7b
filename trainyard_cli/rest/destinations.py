"""Where submissions go: each kind of workload has calls of its own."""

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
LABELS = {"TF": "TensorFlow"}  # where people say another word than the API


@dataclass(frozen=True)
class Destination:
    """``path`` is that of its calls, ``type`` the API's word for it, ``noun`` what people say,
    with its article."""

    path: str
    type: str
    noun: str
    framework: str = ""

    @property
    def is_gang(self) -> bool:
        return self.path == "distributed"

    @property
    def filters(self) -> tuple[str, ...]:
        """By which the list has these alone."""
        if self.framework:
            return (f"distributedFramework=={self.framework}",)
        return (f"type=={self.type}",)

    @property
    def only(self) -> frozenset[str]:
        """Which of the flags that not all have are its own."""
        if not self.is_gang:
            return frozenset({WORKSPACE} if self.path == "workspaces" else ())
        return frozenset({GANG, self.framework} if self.framework else {GANG, PYTORCH, MPI})


STANDARD = Destination("trainings", "Training", "a standard training")
WORKSPACES = Destination("workspaces", "Workspace", "a workspace")
DISTRIBUTED = Destination("distributed", "Distributed", "a distributed training")
#: Of ``trainyard training`` without another word.
TRAININGS = ("type!=Workspace",)


def gang_of(word: str) -> Destination:
    framework, label = FRAMEWORKS[word], label_of(word)
    article = "an" if label[0] in "MX" else "a"  # as they are said: em-pee-eye
    return Destination("distributed", "Distributed", f"{article} {label} training", framework)


def label_of(word: str) -> str:
    framework = FRAMEWORKS[word]
    return LABELS.get(framework, framework)
