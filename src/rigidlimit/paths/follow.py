"""Follows a loading path leg by leg: stages at rest, and steps at a rate.

    for each leg: prescribe its stress and rate
        stage: bring the packing to rest, one step for the forces, one row
        else:  step by step, a row each

The strain of the table is the integral of L dt from the beginning of the path on. Where a stage
comes to rest by least potential energy, bodies and cell are displaced without steps; that strain is
the logarithm of the cell's deformation, which is the integral for a stretch along fixed axes.
"""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.linalg import logm

from .._support import arrays
from .._support.display import Brief
from .._support.progress import progress as bar
from .._support.warned import warn
from .._support.words import counted
from ..collision import find_contacts
from ..errors import InputError, NoRest, OutputError, SceneWarning
from ..output.endings import check_ending
from ..penalty import settle
from ..scenes.columns import StoredScene
from ..scenes.load import as_scene
from ..scenes.scene import Scene
from ..simulation import Simulation
from ..step import StepResult
from .legs import Leg, grains, steps_with_friction
from .record import columns, row
from .table_files import ENDINGS, read_unfinished, unfinished_of, write_table, write_unfinished

INTERVAL = 10.0
"""Wall time between two savings of an unfinished path [s]."""

CLOSE = 0.01
"""Gap, in radii, up to which bodies count as touching where a driven leg begins."""


@dataclass(frozen=True, repr=False)
class LoadingPath(Brief):
    """A finished path.

    Attributes
    ----------
    legs : tuple of Leg
    table : structured ndarray
        A row a stage or step; ``table.dtype.names`` are its columns, ``record.py`` says what they
        are.
    simulation : Simulation
        Where it ended; another path can continue from it.
    last : StepResult or None
        Its last step.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.Scene(cell=(0.6, 1, 1))
    >>> balls = scene.add_many(rl.Sphere(0.1), [(0, 0, 0), (0.2, 0, 0), (0.4, 0, 0)])
    >>> found = rl.paths.oedometer(scene, stresses=[1.0, 2.0], axis="x")
    >>> found.message
    '2 rows of 2 legs, all steps converged'
    """

    legs: tuple[Leg, ...]
    table: np.ndarray
    simulation: Simulation
    last: StepResult | None

    @property
    def converged(self) -> bool:
        """Whether every step was solved."""
        return bool(self.table["converged"].all())

    @property
    def message(self) -> str:
        done = f"{counted(len(self.table), 'row')} of {counted(len(self.legs), 'leg')}"
        wrong = np.flatnonzero(~self.table["converged"])
        if not len(wrong):
            return f"{done}, all steps converged"
        told = f"{done}; {len(wrong)} did not converge, the first in row {wrong[0]}"
        leg, bodies = self.legs[int(self.table["leg"][wrong[0]])], self.simulation.bodies
        if not self.simulation.rough:
            return told
        needed = steps_with_friction(bodies, leg, leg.dt or self.simulation.dt)
        if needed <= leg.steps:
            return told
        return (
            f"{told} (residuals up to {self.table['residual'].max():.1g}): with friction a step "
            f"should strain by at most a tenth of the inertial number; take {needed} steps for "
            f"{leg.steps}, or a larger inertial_number"
        )


Loaded = Scene | Simulation | str | Path
"""What ``follow`` loads."""


def follow(
    scene: Loaded,
    legs: Sequence[Leg],
    *,
    out: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    callback: Callable[[Simulation, dict], object] | None = None,
    progress: bool = False,
    max_seconds: float | None = None,
    **options,
) -> LoadingPath:
    """Load a periodic packing along the legs of a path.

    Parameters
    ----------
    scene : Scene, Simulation, str or Path
        A ``Scene`` with a periodic cell, the name of one or a TOML file, or a ``Simulation`` to
        continue.
    legs : sequence of Leg
        What is prescribed, in turn.
    out : str or Path, optional
        Table to write, ``.csv`` or ``.h5``. An interrupted path keeps ``OUT.unfinished``.
    resume : bool
        Continue an interrupted path, with the same numbers as without the interruption.
    overwrite : bool
        Replace a table, or drop an unfinished one.
    callback : callable(simulation, row), optional
        After each row; True stops, and the path can be resumed.
    progress : bool
        Show a bar on the terminal or in the notebook.
    max_seconds : float [s], optional
        Of the wall clock, looked at between steps.
    **options
        Of ``Simulation``, where a scene is given.

    Raises
    ------
    InputError
        For a scene without a cell, and options beside a ``Simulation``.
    NoRest
        Where a stage does not come to rest, or ``max_seconds`` are over.
    OutputError
        Where the table is there already, or cannot be written.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.Scene(dim=2, cell=(0.6, 1))
    >>> disks = scene.add_many(rl.Disk(0.1), [(0, 0), (0.2, 0), (0.4, 0)])
    >>> stage = rl.paths.Leg("stage", ((3.0, None), (None, None)))
    >>> rl.paths.follow(scene, [stage]).table["stress_xx"].round(9)
    array([3.])
    """
    if isinstance(scene, Simulation):
        if options:
            raise InputError(f"{next(iter(options))} is given beside a Simulation; remove it")
        simulation = scene
    else:
        simulation = Simulation(as_scene(scene), **options)
    if simulation.bodies.cell is None:
        raise InputError(
            f"scene {simulation.scene.name!r} has no periodic cell; expected one: "
            "Scene(cell=...), or a table [cell]"
        )
    if max_seconds is not None:
        arrays.positive("max_seconds", max_seconds)
    following = _Following(simulation, tuple(legs), out, callback, max_seconds)
    return following.run(resume, overwrite, progress)


class _Following:
    """One call of ``follow``: where it is, and what it has found."""

    def __init__(self, simulation, legs, out, callback, max_seconds):
        self.ends = np.inf if max_seconds is None else time.monotonic() + max_seconds
        self.simulation, self.legs, self.callback = simulation, legs, callback
        self.out = None if out is None else Path(out)
        self.rows: list[tuple] = []
        self.types = columns(simulation.bodies.dim)
        self.leg = self.step = 0
        self.strain = np.zeros((3, 3))
        self.last = None
        self.saved, self.known = time.monotonic(), {}
        self.about = {
            "scene": StoredScene.of(simulation.scene).text,
            "path": json.dumps([vars(leg) for leg in legs]),
        }

    def run(self, resume: bool, overwrite: bool, shown: bool) -> LoadingPath:
        self._begin(resume, overwrite)
        total = sum(leg.units for leg in self.legs)
        name = self.simulation.scene.name
        with bar(name, total, completed=len(self.rows), shown=shown) as update:
            try:
                finished = self._advance(update)
            except BaseException:
                self._save()
                raise
        if self.out is not None:
            if finished:
                write_table(self.out, self.table, self.about)
                with suppress(FileNotFoundError):
                    unfinished_of(self.out).unlink()
            else:
                self._save()
        return LoadingPath(self.legs, self.table, self.simulation, self.last)

    @property
    def table(self) -> np.ndarray:
        return np.array(self.rows, self.types)

    def _advance(self, update) -> bool:
        """To the end of the path; False if the callback stopped it before."""
        while self.leg < len(self.legs):
            leg = self.legs[self.leg]
            if self.step == 0:
                self._prescribe(leg)
            while self.step < leg.units:
                self._stage(update) if leg.steps == 0 else self._driven()
                values = dict(zip((name for name, _ in self.types), self.rows[-1], strict=True))
                update(len(self.rows), _summary(leg, values))
                self.step += 1
                if self.callback is not None and self.callback(self.simulation, values):
                    return self.leg == len(self.legs) - 1 and self.step == leg.units
                if time.monotonic() - self.saved > INTERVAL:
                    self._save()
            self.leg, self.step = self.leg + 1, 0
        return True

    def _prescribe(self, leg):
        simulation = self.simulation
        simulation.set_cell(stress=leg.stress, rate=leg.rate)
        if leg.dt is not None:
            simulation.settings = replace(simulation.settings, dt=leg.dt)
        if leg.steps and leg.pressure > 0.0:
            self._warn_of_loose_bodies(leg)

    def _warn_of_loose_bodies(self, leg: Leg):
        """A stress that is held pulls the cell together as quickly as inertia lets it."""
        bodies = self.simulation.bodies
        counts = grains(bodies)
        close = np.where(counts, CLOSE * bodies.bounding_radius, 0.0)
        found, count = len(find_contacts(bodies, self.simulation.state, close)), int(counts.sum())
        if found < count:
            warn(
                f"leg {leg.name!r} holds a stress, and {counted(count, 'body')} have "
                f"{counted(found, 'contact')}: the cell shrinks until they meet, which may take "
                'all its steps; bring them to rest first, by isotropic (kind = "isotropic") at '
                "that pressure",
                SceneWarning,
            )

    def _stage(self, update):
        """Rest under the stress, and the forces there."""
        simulation, before = self.simulation, self.simulation.state.cell.copy()
        done = len(self.rows)
        left = max(self.ends - time.monotonic(), 1e-3)
        settle(
            simulation,
            max_seconds=left if np.isfinite(left) else None,
            callback=lambda text: update(done, text),
        )
        change = np.linalg.solve(before, simulation.state.cell).T
        self.strain = self.strain + np.real(logm(change))
        self._add(simulation.step(compatible=True))

    def _driven(self):
        if time.monotonic() > self.ends:
            raise NoRest(
                f"the path of scene {self.simulation.scene.name!r} is not at its end in time: "
                f"{counted(len(self.rows), 'row')} are done; expected more time (max_seconds), or "
                "fewer steps"
            )
        self._add(self.simulation.step(compatible=True))

    def _add(self, result):
        found = row(self.simulation, result, self.strain)
        found |= {"leg": self.leg, "step": self.step}
        self.rows.append(tuple(found[name] for name, _ in self.types))
        self.strain = self.strain + result.strain
        self.last = result
        self._remember()

    def _remember(self):
        """All that the rest of the path depends on, as arrays: after each row, so that a path
        interrupted within a stage continues from the beginning of the stage."""
        simulation = self.simulation
        self.known = {
            "rows": self.table,
            "place": np.array([self.leg, self.step + 1]),
            "strain": self.strain,
            "dt": np.array(simulation.dt),
            "closed": np.array(simulation.settings.closed or np.nan),
        } | {f"simulation_{k}": v for k, v in simulation.checkpoint().items()}

    def _begin(self, resume, overwrite):
        if self.out is None:
            if resume:
                raise InputError("resume is given without out; expected the table to go on with")
            return
        check_ending("out", self.out, ENDINGS)
        if resume:
            self._restore(read_unfinished(self.out, self.about))
            return
        going_on = "go on with --resume (resume=True), or "
        for path, hint in ((self.out, ""), (unfinished_of(self.out), going_on)):
            if path.exists() and not overwrite:
                raise OutputError(
                    f"{path} exists; {hint}begin anew with --overwrite (overwrite=True)"
                )

    def _save(self):
        if self.out is None or not self.known:
            return
        write_unfinished(self.out, self.about, self.known)
        self.saved = time.monotonic()

    def _restore(self, saved):
        self.rows = [tuple(line) for line in saved["rows"].tolist()]
        self.leg, self.step = (int(k) for k in saved["place"])
        if self.leg < len(self.legs) and self.step == self.legs[self.leg].units:
            self.leg, self.step = self.leg + 1, 0
        self.strain, closed = saved["strain"], float(saved["closed"])
        simulation = self.simulation
        prefix = "simulation_"
        simulation.restore({k[len(prefix) :]: v for k, v in saved.items() if k.startswith(prefix)})
        simulation.settings = replace(
            simulation.settings,
            dt=float(saved["dt"]),
            closed=closed if np.isfinite(closed) else None,
        )


def _summary(leg: Leg, values: dict) -> str:
    return (
        f"{leg.name}: pressure {values['pressure']:.4g}, deviator {values['deviator']:.4g}, "
        f"void ratio {values['void_ratio']:.4f}, coordination {values['coordination']:.3f}"
    )
