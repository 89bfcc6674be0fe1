"""A study: one plan over seeds and parameters."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path

import numpy as np

from .._support.progress import progress as bar
from .._support.threads import thread_count
from .._support.words import counted
from ..errors import InputError
from ..scenes.scene import Scene
from .ensemble import Ensemble
from .plan import Plan
from .sample import Sample
from .storage import Parts
from .workers import outcomes


def study(
    plan: Plan | str | Path | Callable[..., Scene],
    *,
    seeds: int | Sequence[int] = 1,
    parameters: Mapping[str, object] | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> Ensemble:
    """Compute a plan for all seeds and all combinations of parameters.

    The numbers are the same for any number of workers: each sample runs on one thread, from its
    seed and parameters alone. A failed sample is reported and does not end the others.

    Parameters
    ----------
    plan : Plan, str, Path or callable
        A ``Plan``, or its scene alone.
    seeds : int or sequence of int
        Their number, from 0 on, or the seeds.
    parameters : dict, optional
        Values by name; of a list each value in turn, every combination.
    out : str or Path, optional
        HDF5 file of the study. While it is under way each sample that is done lies in
        ``OUT.parts``, so that nothing is lost when it is stopped or killed.
    resume : bool
        Go on with the study of ``out``, stopped or finished: samples that are there are not
        computed again, as long as nothing that their numbers depend on has changed.
    overwrite : bool
        Begin anew.
    workers : int, optional
        Processes; by default as many as there are cores. A script must call this below
        ``if __name__ == "__main__":``.
    executor : concurrent.futures.Executor, optional
        In their place, as of Dask (``client.get_executor()``) or of mpi4py; it stays open.
    progress : bool
        Show a bar.

    Returns
    -------
    Ensemble
        All samples; ``statistics()`` has means and standard errors.

    Raises
    ------
    InputError
        For seeds, parameters or a first scene that cannot be used.
    OutputError
        Where the file is in use or cannot be written.

    Examples
    --------
    >>> import rigidlimit
    >>> found = rigidlimit.study("pile-2d", seeds=2, parameters={"count": 12}, workers=1)
    >>> found.message
    '2 samples'
    """
    plan = plan if isinstance(plan, Plan) else Plan(plan)
    seeds = _seeds(seeds, plan)
    names, combinations = _combinations(parameters or {})
    plan.scene_of(seeds[0], combinations[0])  # errors common to all samples are raised at once
    count = workers_of(workers)
    samples = [Sample.of(plan, seed, chosen) for chosen in combinations for seed in seeds]
    parts = None if out is None else Parts(Path(out), resume=resume, overwrite=overwrite)
    try:
        found = _computed(samples, parts, count, executor, progress)
        ensemble = _gathered(plan, samples, names, found)
        if parts is not None:
            # under which hash a later study finds a sample; "" where it is computed again
            kept = zip(samples, found, strict=True)
            parts.finish(ensemble, ["" if o.lost else s.digest for s, o in kept])
        return ensemble
    finally:
        if parts is not None:
            parts.close()


def workers_of(workers: int | None) -> int:
    """Number of worker processes. Raises InputError."""
    if workers is None:
        return thread_count()
    whole = isinstance(workers, int | np.integer) and not isinstance(workers, bool)
    if not whole or workers < 1:
        raise InputError(f"workers is {workers!r}; expected a number of processes, 1 or more")
    return int(workers)


def _seeds(seeds, plan: Plan) -> list[int]:
    whole = isinstance(seeds, int | np.integer) and not isinstance(seeds, bool)
    chosen = list(range(int(seeds))) if whole else list(np.ravel(seeds))
    good = all(
        isinstance(s, int | np.integer) and not isinstance(s, bool) and s >= 0 for s in chosen
    )
    if not chosen or not good or len(set(chosen)) < len(chosen):
        raise InputError(
            f"seeds is {seeds!r}; expected their number, 1 or more, or whole numbers from 0 on, "
            "each once"
        )
    if len(chosen) > 1 and not plan.takes_seed:
        raise InputError(
            f"{counted(len(chosen), 'seed')} are given for {plan.scene}, in which nothing is "
            "random; expected one, or a scene with a seed, such as 'packing'"
        )
    return [int(seed) for seed in chosen]


def _combinations(parameters: Mapping[str, object]) -> tuple[list[str], list[dict[str, object]]]:
    names, choices = list(parameters), []
    for name, values in parameters.items():
        several = isinstance(values, list | np.ndarray | range)
        choices.append([_plain(v) for v in values] if several else [_plain(values)])
        if not choices[-1]:
            raise InputError(f"parameter {name!r} has no values; expected one or more")
    return names, [dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*choices)]


def _plain(value):
    """The value as JSON and TOML know it."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _computed(samples: list[Sample], parts: Parts | None, workers, executor, shown):
    """Outcomes of all samples, those in ``parts`` among them."""
    found = [None if parts is None else parts.known(sample.digest) for sample in samples]
    missing = [number for number, outcome in enumerate(found) if outcome is None]
    done = len(samples) - len(missing)
    failed = sum(bool(outcome and outcome.error) for outcome in found)
    with bar("study", len(samples), completed=done, shown=shown) as update:
        todo = [samples[number] for number in missing]
        for position, outcome in outcomes(todo, workers=workers, executor=executor):
            number = missing[position]
            found[number] = outcome
            if parts is not None and not outcome.lost:
                parts.keep(samples[number].digest, outcome)
            done += 1
            failed += bool(outcome.error)
            update(done, f"{failed} failed" if failed else "")
    return found


def _gathered(plan, samples, names, found) -> Ensemble:
    values = {
        name: [outcome.values.get(name) for outcome in found]
        for name in (*plan.names, "converged", "doubtful")
    }
    return Ensemble(
        plan=plan.description,
        seeds=np.array([sample.seed for sample in samples]),
        parameters={name: [sample.parameters[name] for sample in samples] for name in names},
        values=values,
        errors=[outcome.error for outcome in found],
    )
