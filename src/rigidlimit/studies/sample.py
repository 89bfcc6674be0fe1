"""One sample: a pure function of plan, seed and parameters, on one thread."""

import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import threadpool_limits

from .._support.threads import at_most
from ..errors import RigidlimitError
from .plan import Plan


@dataclass(frozen=True)
class Sample:
    """seed and parameters of a sample; digest: of all that its numbers depend on."""

    plan: Plan
    seed: int
    parameters: Mapping[str, object]
    digest: str

    @classmethod
    def of(cls, plan: Plan, seed: int, parameters: Mapping[str, object]) -> "Sample":
        return cls(plan, seed, parameters, plan.digest(seed, parameters))


@dataclass(frozen=True)
class Outcome:
    """values: what was measured, by name; empty where the sample failed. error: why, or "".
    lost: whether its worker ended, which says nothing about the sample; it is computed again when
    the study is resumed."""

    values: dict[str, np.ndarray] = field(default_factory=dict)
    error: str = ""
    lost: bool = False


def run_sample(sample: Sample) -> Outcome:
    """Compute a sample. Errors are recorded in the outcome."""
    with at_most(1), threadpool_limits(1):
        try:
            return Outcome(sample.plan.run(sample.seed, sample.parameters))
        except RigidlimitError as error:
            return Outcome(error=f"{type(error).__name__}: {error}")
        except Exception as error:  # one sample is not to end the others
            line = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{line.filename}, line {line.lineno}"
            return Outcome(error=f"{type(error).__name__}: {error} ({place})")
