"""The samples of a study together: tables, statistics, and the arrays of each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from .._support.display import Brief
from .._support.words import counted
from ..errors import InputError, nearest

ALWAYS = "converged", "doubtful"
"""Of every sample, beside its measures: whether its last step was solved, and what is doubtful."""


@dataclass(frozen=True, repr=False)
class Ensemble(Brief):
    """S samples in the order of the study: parameters outside, seeds inside.

    Attributes
    ----------
    plan : str
        What each did, as JSON.
    seeds : (S,) int ndarray
    parameters : dict of str to list
        S values by name.
    values : dict of str to list
        S arrays by the name of the measure, None where the sample failed.
    errors : list of str
        Why a sample failed, "" where it did not.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> plan = rl.Plan("packing", measures=["contacts"], steps=1)
    >>> found = rl.study(plan, seeds=2, parameters={"count": [8, 12]}, workers=1)
    >>> len(found), found.parameters["count"], found.seeds
    (4, [8, 8, 12, 12], array([0, 1, 0, 1]))
    >>> len(found.of(count=8).samples("contacts"))
    2
    """

    plan: str
    seeds: np.ndarray
    parameters: dict[str, list]
    values: dict[str, list[np.ndarray | None]]
    errors: list[str]

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def failed(self) -> np.ndarray:
        """Indices of the samples without numbers."""
        return np.flatnonzero([bool(error) for error in self.errors])

    @property
    def message(self) -> str:
        said = counted(len(self), "sample")
        if len(self.failed):
            first = self.failed[0]
            said += f", {len(self.failed)} failed, the first ({self.label(first)}): "
            said += self.errors[first]
        unsolved = [bool(v is not None and not v) for v in self.values.get("converged", [])]
        if any(unsolved):
            first = unsolved.index(True)
            said += f"; {sum(unsolved)} did not converge, the first ({self.label(first)})"
        return said

    def label(self, number: int) -> str:
        """Seed and parameters of a sample, in words.

        Parameters
        ----------
        number : int
            Of the sample.
        """
        pairs = [f"{name} {values[number]}" for name, values in self.parameters.items()]
        return ", ".join([f"seed {self.seeds[number]}", *pairs])

    def of(self, **parameters) -> "Ensemble":
        """The samples with these values of parameters.

        Parameters
        ----------
        **parameters
            Their names, also with dots as underscores, and the values wanted.
        """
        known = {name.replace(".", "_"): name for name in self.parameters}
        known |= {name: name for name in self.parameters}
        keep = np.ones(len(self), bool)
        for name, value in parameters.items():
            if name not in known:
                raise InputError(f"no parameter {name!r}; {nearest(name, known)}")
            keep &= np.array([v == value for v in self.parameters[known[name]]])
        which = np.flatnonzero(keep)
        return replace(
            self,
            seeds=self.seeds[which],
            parameters={k: [v[i] for i in which] for k, v in self.parameters.items()},
            values={k: [v[i] for i in which] for k, v in self.values.items()},
            errors=[self.errors[i] for i in which],
        )

    def samples(self, measure: str) -> list[np.ndarray]:
        """The values of a measure, one per sample, without failed samples.

        Parameters
        ----------
        measure : str
            Its name; for ``"force"`` values are in the form that ``force_distribution`` accepts.
        """
        if measure not in self.values:
            raise InputError(f"no measure {measure!r}; {nearest(measure, self.values)}")
        return [value for value in self.values[measure] if value is not None]

    def profile(self, measure: str) -> tuple[np.ndarray, np.ndarray]:
        """(mean, standard error of the mean) over the samples of a measure that is an array; nan
        where there is no error.

        Parameters
        ----------
        measure : str
            Its name: an array of one shape in all samples, as a column of a path is a number a row.
        """
        given = self.samples(measure)
        shapes = {value.shape for value in given}
        if len(shapes) != 1:
            raise InputError(
                f"measure {measure!r} has "
                + (f"{len(shapes)} shapes" if shapes else "no sample")
                + "; expected arrays of one shape in all samples, like columns of a path"
            )
        x = np.array(given, float)
        if len(x) == 1:
            return x[0], np.full(x.shape[1:], np.nan)
        return x.mean(axis=0), x.std(axis=0, ddof=1) / np.sqrt(len(x))

    @property
    def scalars(self) -> list[str]:
        """Measures that are one number a sample."""
        return [
            name
            for name, values in self.values.items()
            if name not in ALWAYS and all(v is None or v.ndim == 0 for v in values)
        ]

    def table(self) -> np.ndarray:
        """A row a sample: seed, parameters, and the measures of one number, nan where it failed.
        Parameters that are lists stand as text."""
        columns = {"seed": self.seeds}
        for name, values in self.parameters.items():
            lists = any(isinstance(value, list) for value in values)
            columns[name] = np.array([str(value) for value in values] if lists else values)
        for name in self.scalars:
            columns[name] = np.array(
                [np.nan if v is None else float(v) for v in self.values[name]], float
            )
        table = np.zeros(len(self), [(name, c.dtype) for name, c in columns.items()])
        for name, column in columns.items():
            table[name] = column
        return table

    def groups(self) -> "list[tuple[dict[str, object], Ensemble]]":
        """(parameters, their samples) of each combination, in the order of the study."""
        found: dict[str, dict] = {}
        for number in range(len(self)):
            values = {name: v[number] for name, v in self.parameters.items()}
            found.setdefault(repr(values), values)
        return [(values, self.of(**_plain(values))) for values in found.values()]

    def statistics(self) -> list[dict[str, object]]:
        """A dict a combination of parameters: their values, ``samples`` and ``failed``, and of each
        measure of one number its mean, ``NAME_std`` and ``NAME_error``, the standard error of the
        mean; nan where there are too few samples."""
        rows = []
        for parameters, group in self.groups():
            row = dict(parameters) | {"samples": len(group), "failed": len(group.failed)}
            for name in self.scalars:
                x = np.array(group.samples(name), float)
                mean = x.mean() if len(x) else np.nan
                std = x.std(ddof=1) if len(x) > 1 else np.nan
                row |= {name: mean, f"{name}_std": std, f"{name}_error": std / np.sqrt(len(x) or 1)}
            rows.append(row)
        return rows


def _plain(parameters: Mapping[str, object]) -> dict[str, object]:
    return {name.replace(".", "_"): value for name, value in parameters.items()}
