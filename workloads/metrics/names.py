"""What the names of metrics say: their labels, the split of the data, and which way is better."""

import re
from enum import StrEnum

LABELS = {
    "loss": "Loss",
    "accuracy": "Accuracy",
    "samples_per_second": "Throughput (samples/s)",
    "cpu": "CPU (cores)",
    "memory": "CPU memory (bytes)",
    "gpu": "GPU utilization (%)",
    "gpu_memory": "GPU memory (bytes)",
}
ORDER = list(LABELS)
UNCHARTED = frozenset({"epoch", "rank", "world_size", "time", "timestamp"})
#: Parts of the data that one metric is reported for, as training programs call them.
SPLITS = ("train", "training", "val", "valid", "validation", "eval", "dev", "test")
_SPLIT = "|".join(SPLITS)
PREFIXED = re.compile(rf"(?P<split>{_SPLIT})[/_.:-](?P<base>.+)", re.IGNORECASE)
SUFFIXED = re.compile(rf"(?P<base>.+)/(?P<split>{_SPLIT})", re.IGNORECASE)
WORD = re.compile(r"[A-Z]?[a-z]+\d*|[A-Z]+\d*(?![a-z])")


class Goal(StrEnum):
    """Whether lower or higher values of a metric are better, as far as its name tells."""

    LOWEST = "lowest"
    HIGHEST = "highest"
    UNKNOWN = "unknown"


LOWER_IS_BETTER = frozenset(
    "loss losses error err nll ppl perplexity mae mse rmse mape wer cer ter fid bpc bpb bpd brier "
    "latency seconds duration".split()
)
HIGHER_IS_BETTER = frozenset(
    "accuracy acc top f1 auc auroc auprc precision recall map ap iou miou dice bleu rouge meteor "
    "psnr ssim r2 reward return score throughput mfu correct em".split()
)
#: Words of a setting, which is no measure of quality whatever else its name says.
OF_A_SETTING = frozenset("scale weight coef lr".split())


def split_name(name: str) -> tuple[str, str]:
    """Return the split and the rest of a metric's name: ``val_loss`` is ``("val", "loss")``. The
    split of other names is empty."""
    match = PREFIXED.fullmatch(name) or SUFFIXED.fullmatch(name)
    return (match["split"].lower(), match["base"]) if match else ("", name)


def goal_of(name: str) -> Goal:
    """Return which way a metric is better. The last word of its name that tells it decides."""
    words = [word.lower() for word in WORD.findall(name)]
    if OF_A_SETTING.intersection(words):
        return Goal.UNKNOWN
    if "per" in words and words[-1] in {"second", "s", "sec"}:
        return Goal.HIGHEST
    for word in reversed(words):
        forms = {word, word.rstrip("0123456789")}
        if forms & LOWER_IS_BETTER:
            return Goal.LOWEST
        if forms & HIGHER_IS_BETTER:
            return Goal.HIGHEST
    return Goal.UNKNOWN


def label_of(name: str) -> str:
    return LABELS.get(name, name)


def sort_key(name: str) -> tuple[int, str, int]:
    """Sort well-known metrics first, then by name, with the splits of one metric together."""
    split, base = split_name(name)
    place = ORDER.index(base) if base in ORDER else len(ORDER)
    return (place, base, SPLITS.index(split) + 1 if split else 0)
