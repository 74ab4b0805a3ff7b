"""What runs workloads on Kubernetes: the table of emitters."""

from collections.abc import Iterator

from engines.base import Launch
from engines.kubernetes.manifests.emitters.base import Complaint, Emitter
from engines.kubernetes.manifests.emitters.indexed import IndexedEmitter
from engines.kubernetes.manifests.emitters.operators import OperatorEmitter
from engines.kubernetes.manifests.emitters.rank_jobs import RankJobsEmitter
from engines.kubernetes.manifests.emitters.single import SingleEmitter

#: The first that fits runs a workload that does not ask for one of them.
EMITTERS: tuple[Emitter, ...] = (
    SingleEmitter(),
    IndexedEmitter(),
    RankJobsEmitter(),
    OperatorEmitter(),
)


BY_FORM = {emitter.form: emitter for emitter in EMITTERS if emitter.form}


def emitter_for(launch: Launch) -> Emitter:
    """What runs the launch. If the form that it asks for cannot, that is a complaint, and the rest
    is judged as without it."""
    asked = BY_FORM.get(launch.spec.job_form) if launch.spec.job_form else None
    if asked and not asked.why_not(launch):
        return asked
    return next(emitter for emitter in EMITTERS if emitter.fits(launch))


def form_complaints(launch: Launch) -> Iterator[Complaint]:
    asked = BY_FORM.get(launch.spec.job_form) if launch.spec.job_form else None
    reason = asked.why_not(launch) if asked else ""
    if reason:
        yield "jobForm", f"{reason}; choose another form, or leave it out"
