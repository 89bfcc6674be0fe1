"""Warnings point at the line of the user's program that led to them."""

import warnings

import pytest

import rigidlimit as rl
from rigidlimit.output.hdf5 import RunWriter


def overlapping():
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(rl.Sphere(0.1), position=(0, 0, 0.05), mass=1.0)
    return scene


def dented():
    return rl.Polygon([(0, 0), (1, 0), (0.5, 0.2), (1, 1), (0, 1)])


def turned():
    scene = rl.Scene(dim=2)
    scene.add(rl.rectangle(1, 1), position=(0, 0), orientation=90)


def unfinished():
    simulation = rl.Simulation("beam")
    writer = RunWriter.start("b.h5", simulation, {})
    writer.add(simulation.step())
    writer.checkpoint()
    rl.read_run("b.h5")


@pytest.mark.parametrize(
    "lead",
    [
        lambda: rl.Simulation(overlapping()).step(),
        lambda: rl.Simulation(overlapping()).run(until=2e-3),
        dented,
        turned,
        unfinished,
    ],
)
def test_line_of_the_user(lead, tmp_path, monkeypatch):
    """Property: by whatever way through the library."""
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lead()
    assert caught and {each.filename for each in caught} == {__file__}
