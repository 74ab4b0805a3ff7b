"""What runs workloads on Kubernetes: the table of emitters."""

from engines.base import Launch
from engines.kubernetes.manifests.emitters.base import Emitter
from engines.kubernetes.manifests.emitters.indexed import IndexedEmitter
from engines.kubernetes.manifests.emitters.operators import OperatorEmitter
from engines.kubernetes.manifests.emitters.rank_jobs import RankJobsEmitter
from engines.kubernetes.manifests.emitters.single import SingleEmitter

#: The first that fits runs the workload.
EMITTERS: tuple[Emitter, ...] = (
    SingleEmitter(),
    IndexedEmitter(),
    RankJobsEmitter(),
    OperatorEmitter(),
)


def emitter_for(launch: Launch) -> Emitter:
    return next(emitter for emitter in EMITTERS if emitter.fits(launch))
