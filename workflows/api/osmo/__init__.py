"""REST under the paths of OSMO, with its words and shapes, as far as its command line uses them.

The same calls are at OSMO's own paths, such as ``/api/workflow``.
"""

from ninja import Router

from workflows.api.osmo import pools, runs, submission, texts

router = Router(tags=["OSMO"])
for part in (submission, runs, texts, pools):
    router.add_router("/osmo", part.router)
