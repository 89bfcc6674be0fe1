"""Closed contacts of a step: weakly constrained motions, and how forces respond to errors there.

The formulas are in ``last_digits.py``.

Forces respond to changes of slacks as stiff springs would (``Response``). Changes d (k,) [m/s] of
the slacks w of active contacts cause, by eq. 21,

    (M/dt + B^T D B) x = -B^T D d,   g = -D (d + B x),      forces g in response to d,
    (M/dt + B^T D B) y = B^T g,      h = D B y,             the least forces of the same load,

with D_i = 1 / (weak^2 N_ii): motions with S above weak respond as contacts would, others less and
less. h excludes forces that contacts beside one another exert on each other only, B^T g = 0.
Applied again, to h in place of g, it excludes motions with S below weak, too.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

from .._support.arrays import with_short_indices
from .._support.products import absolute_product, transposed_product
from .._support.sets import connected
from .._support.submatrix import submatrix
from ..compatibility.result import WARNED
from ..dynamics.problem import ContactDynamicsResult
from ..linear import LinearStats, Network, kept_starts
from .exact_parts import solved_exactly
from .idle_contacts import rings
from .one_body import reduced_balance, without_weak_motions
from .screening import weak_motions
from .step_data import Balance, StepData
from .tolerances import TOLERANCES


class Off(NamedTuple):
    """Errors of contacts, (k,) each. force [N]: of step 1; wrong [m/s]: its remaining slack.
    digits [m/s]: error of the slack by rounding of the data. diagonal: of N."""

    force: np.ndarray
    wrong: np.ndarray
    digits: np.ndarray
    diagonal: np.ndarray

    def of(self, rows: np.ndarray) -> "Off":
        """Of some contacts: indices."""
        return Off(*(values[rows] for values in self))


class Response:
    """What changes of slacks make of the forces of some contacts, by stiff springs."""

    def __init__(self, step: StepData, balance: sp.csr_array, off: Off, free):
        """balance (k, 6 N): rows of the contacts, without motions that the balance excludes.
        free (6 N,) bool: degrees of freedom that are not held."""
        touched = np.zeros(len(free), bool)
        touched[balance.indices] = True
        dofs = np.flatnonzero(free & touched)
        per_reach = 1 / step.reach[dofs]
        B = submatrix(balance, columns=dofs, scale=per_reach)
        mass = submatrix(step.M, rows=dofs, columns=dofs, scale=per_reach)
        mass.data *= np.repeat(per_reach, np.diff(mass.indptr)) / step.dt
        blocks = kept_starts(np.arange(0, len(free) + 1, 6), dofs)
        # the springs are too stiff for single precision
        network = Network(B, mass=mass, blocks=blocks, single_precision=False)
        self.off, self.network, self.D = off, network, 1 / (TOLERANCES.weak**2 * off.diagonal)
        self.system = network.system(self.D, 0.0)

    def to_residual(self) -> np.ndarray:
        """|h| (k,) [N] for what is wrong with the slacks."""
        return np.abs(self._least(self.off.wrong[:, None], 1)[0][:, 0])

    def to_last_digits(self) -> list[np.ndarray]:
        """The largest |h| (k,) [N] for the remaining slack, and for rounding of the data: with
        motions with S below weak, and without them."""
        wrong, digits = self.off.wrong, self.off.digits
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(digits), TOLERANCES.samples))
        changes = np.column_stack([wrong, signs * digits[:, None]])
        # each round reduces such motions by (S / weak)^2
        return [
            np.max([_bounded(h, self.off.force) for h in found.T], axis=0)
            for found in self._least(changes, 2)
        ]

    def _least(self, changes: np.ndarray, rounds: int) -> list[np.ndarray]:
        """h (k, c) for changes (k, c): after each time that it replaces g and is computed again."""
        B, D, stats = self.network.B, self.D[:, None], LinearStats()

        def moved(push: np.ndarray) -> np.ndarray:
            return B @ self.system.solve_directly(B.T @ push, stats, refined=False)

        found = [-D * (changes + moved(-D * changes))]
        for _ in range(rounds):
            found.append(D * moved(found[-1]))
        return found[1:]


def _bounded(change, force):
    """|change| (k,) [N] of forces (k,) >= 0 there and back, as far as none of those that it mostly
    changes would pull."""
    size = np.abs(change)
    most = size > TOLERANCES.mostly * size.max(initial=0.0)
    way = [
        np.divide(force, size, where=at, out=np.ones(len(force)))
        for at in (most & (change < 0), most & (change > 0))
    ]
    return size * min(1.0, max(way[0].min(initial=1.0), way[1].min(initial=1.0)))


DIGIT = float(np.finfo(float).eps)


@njit(cache=True)
def _along_motions(indptr, indices, data, begins, way, change):
    """max_i |S U_i| (k,) of each motion, and sum_i (S U_i change_i)^2 (2, k), way (k, 6):
    velocities of the motions, in order of their bodies, those of one body from ``begins`` (N + 1,)
    on."""
    largest, along = np.zeros(len(way)), np.zeros((2, len(way)))
    for i in range(len(indptr) - 1):
        e = indptr[i]
        while e < indptr[i + 1]:
            body, end = indices[e] // 6, e
            while end < indptr[i + 1] and indices[end] // 6 == body:
                end += 1
            for k in range(begins[body], begins[body + 1]):
                moved = 0.0
                for x in range(e, end):
                    moved += data[x] * way[k, indices[x] - 6 * body]
                largest[k] = max(largest[k], abs(moved))
                for c in range(2):
                    along[c, k] += (moved * change[c, i]) ** 2
            e = end
    return largest, along


def _along(VT, load):
    """|load| (b, 6) along the motions VT (b, 6, 6), (b, 6)."""
    return np.abs(np.einsum("bji,bi->bj", VT, load))


class Suspects(NamedTuple):
    """Weakly constrained motions, one body each, (k,): the body; bounds on the force error [N] due
    to the residual, and due to this or rounding if S is above weak; which are below."""

    body: np.ndarray
    by_residual: np.ndarray
    in_all: np.ndarray
    below: np.ndarray


class ClosedContacts:
    """The closed contacts ``rows`` (r,) of a step, and the parts that they connect."""

    def __init__(self, step: StepData, rows: np.ndarray, limit: float):
        """limit: largest S of the motions of one body that are examined."""
        self.step, self.rows = step, rows
        self.B = submatrix(step.B, rows=rows)
        self.weak = weak_motions(self.B, step.columns, limit)
        self.dofs = np.count_nonzero(step.free.reshape(-1, 6), axis=1)
        self._balance, self._looked_at = None, None

    @cached_property
    def part_of(self) -> np.ndarray:
        """Number of the part, all that hangs together, of each contact and body (r + N,)."""
        B, body = with_short_indices(self.B), np.arange(self.B.shape[1]) // 6
        rows = B.data, B.indices, B.indptr
        bodies, contacts = connected(*rows, np.array(self.step.free), body, len(self.dofs), 1)
        return np.concatenate([contacts, bodies])

    def off(self, classic: ContactDynamicsResult) -> Off:
        """What these contacts are known to."""
        step, force = self.step, classic.force[self.rows]
        mass = step.M.diagonal()
        inverse = np.where(step.free, 1 / np.where(mass > 0, mass, np.inf), 0.0)
        squares = sp.csr_array((self.B.data**2, self.B.indices, self.B.indptr), self.B.shape)
        diagonal = step.dt * (squares @ inverse)
        diagonal = np.where(diagonal > 0, diagonal, 1.0)
        moved = (step.velocity + step.dt * inverse * step.external_force) * step.free
        digits = DIGIT * absolute_product(self.B, moved) + step.blur[self.rows]
        wrong = np.minimum(force * diagonal, classic.slack[self.rows])
        return Off(force, wrong, digits, diagonal)

    def balance(self, classic: ContactDynamicsResult) -> Balance:
        """``reduced_balance`` of these contacts."""
        if self._balance is None or self._balance[0] is not classic:
            force, step = classic.force[self.rows], self.step
            load = np.where(step.free, transposed_product(self.B, force), 0.0)
            less = reduced_balance(step.bodies, self.B, load, force, slight=self.weak)
            self._balance = classic, less
        return self._balance[1]

    def suspects(self, classic: ContactDynamicsResult) -> "Suspects":
        """Motions of one body along which forces may be uncertain, by the formula above."""
        (bodies, S, VT), step, free, reach = self.weak, self.step, self.step.free, self.step.reach
        pushed = (transposed_product(self.B, classic.force[self.rows]) * free / reach).reshape(
            -1, 6
        )
        loads = (step.external_force * free / reach).reshape(-1, 6)
        # motions that are excluded from the balance later need no accuracy
        loaded = np.maximum(_along(VT, pushed[bodies]), _along(VT, loads[bodies]))
        resisted = (TOLERANCES.weak < S) | (
            loaded > TOLERANCES.weak * np.abs(pushed).max(initial=0.0)
        )
        which, motion = np.nonzero(resisted & (TOLERANCES.zero < S) & (TOLERANCES.resisted >= S))
        body, S = bodies[which], S[which, motion]
        if not len(body):
            return Suspects(body, S, S, TOLERANCES.weak >= S)
        way = VT[which, motion] / reach.reshape(-1, 6)[body]
        off = self.off(classic)
        begins = np.searchsorted(body, np.arange(len(self.dofs) + 1))
        B = with_short_indices(self.B)
        change = np.stack([np.abs(off.wrong), np.maximum(np.abs(off.wrong), off.digits)])
        largest, along = _along_motions(B.indptr, B.indices, B.data, begins, way, change)
        mass = (way**2 * step.M.diagonal().reshape(-1, 6)[body]).sum(axis=1)
        by_residual, in_all = np.sqrt(along) * largest * mass / (step.dt * S**4)
        return Suspects(
            body, by_residual, np.where(TOLERANCES.weak < S, in_all, 0.0), TOLERANCES.weak >= S
        )

    def may_be_open(
        self, classic: ContactDynamicsResult, found: Suspects, reported: float
    ) -> np.ndarray:
        """Force error of each body (N,) [N]: by the formula above if at most ``reported`` [N],
        computed from the response otherwise."""
        more = found.in_all > reported
        if more.any():
            worst = np.argsort(-found.in_all[more], kind="stable")
            return self.open(classic, found.body[more][worst])
        out = np.zeros(len(self.dofs))
        slight = found.in_all <= TOLERANCES.nothing / WARNED * reported
        np.maximum.at(out, found.body, np.where(slight, 0.0, found.in_all))
        return out

    def open(
        self, classic: ContactDynamicsResult, bodies: np.ndarray, *, weak: bool = False
    ) -> np.ndarray:
        """Force error of each body (N,) [N], around ``bodies``, the worst first. weak:
        including motions of several bodies with S below weak."""
        inside = self._around(bodies[: TOLERANCES.around // 60])
        seen = self._looked_at
        if seen is None or seen[0] is not classic or not np.array_equal(seen[1], inside):
            self._looked_at = seen = classic, inside, self._opened(classic, inside)
        return seen[2][0 if weak else 1]

    def _opened(
        self, classic: ContactDynamicsResult, inside: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Force error of each body (N,) [N] due to the contacts and bodies ``inside`` (r +
        N,) bool: with and without motions with S below weak."""
        m, step = len(self.rows), self.step
        free = step.free & np.repeat(inside[m:], 6)
        chosen = np.flatnonzero(inside[:m] & (classic.force[self.rows] > 0))
        if not len(chosen):  # no contact is active there
            return np.zeros(len(self.dofs)), np.zeros(len(self.dofs))
        balance = submatrix(self.balance(classic)[0], rows=chosen)
        response = Response(step, balance, self.off(classic).of(chosen), free)
        B, both = submatrix(self.B, rows=chosen), np.zeros((2, len(self.dofs)))
        for by_body, h in zip(both, response.to_last_digits(), strict=True):
            np.maximum.at(by_body, B.indices // 6, np.repeat(h, np.diff(B.indptr)))
        return both[0], both[1]

    def solved_again(
        self, classic: ContactDynamicsResult, bodies: np.ndarray, wedged: np.ndarray, enough: float
    ) -> ContactDynamicsResult:
        """``classic`` with the forces of small parts around ``bodies`` solved to rounding, where
        they are uncertain by more than ``enough`` [N], and always around those that are
        ``wedged``: the springs of ``Response`` are softer than these."""
        m, step = len(self.rows), self.step
        part_of = self.part_of
        parts = part_of.max() + 1
        size = np.bincount(part_of[:m], minlength=parts)
        size = size * np.bincount(part_of[m:], weights=self.dofs, minlength=parts)
        suspect = np.unique(part_of[m + bodies])
        chosen = np.isin(part_of, suspect[size[suspect] <= TOLERANCES.small_part])
        if not chosen[:m].any():
            return classic
        free = step.free & np.repeat(chosen[m:], 6)
        force = classic.force[self.rows]
        load = np.where(step.free, transposed_product(self.B, force), 0.0)
        known = dict(slight=self.weak, other_load=step.external_force)
        balance = without_weak_motions(self.B, load, force, step.columns, **known)[0]
        here = np.flatnonzero(chosen[:m])
        balance, off = submatrix(balance, rows=here), self.off(classic).of(here)
        doubt = Response(step, balance, off, free).to_residual() > enough
        again = np.union1d(part_of[here[doubt]], part_of[m + wedged])
        again = again[np.isin(again, part_of[chosen])]
        return solved_exactly(step, classic, self.rows, part_of, again) if len(again) else classic

    def _around(self, bodies: np.ndarray) -> np.ndarray:
        """Contacts and bodies (r + N,) bool around some bodies: the parts that these belong to, or
        as many rings as ``around`` allows."""
        m = len(self.rows)
        inside = np.isin(self.part_of, self.part_of[m + bodies])
        if self.dofs[inside[m:]].sum() <= TOLERANCES.around:
            return inside
        rows, inside = rings(
            self.B,
            self.step.free,
            np.isin(np.arange(len(self.dofs)), bodies),
            lambda _, wider: self.dofs[wider].sum() <= TOLERANCES.around,
        )
        return np.concatenate([rows, inside])
