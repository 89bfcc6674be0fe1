"""``rigidlimit settle``: a scene at rest, in a file to go on from."""

import pytest
from typer.testing import CliRunner

import rigidlimit as rl
from rigidlimit.cli.app import app
from rigidlimit.scenes.toml import write_scene


def call(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_what_is_written_is_at_rest(tmp_path):
    """Contract: the file holds every digit of the pose, so that its first step does not move."""
    dropped = tmp_path / "dropped.toml"
    write_scene(rl.scenes.pile_2d(12), dropped)
    out = tmp_path / "rest.toml"
    answer = call("settle", str(dropped), "--out", str(out))
    assert answer.exit_code == 0, answer.output
    assert "at rest by DEM" in answer.output and "written: " in answer.output
    simulation = rl.Simulation(rl.scenes.load(str(out)))
    result = simulation.step()
    assert result.converged and simulation.at_rest
    weight = 9.81 * simulation.bodies.mass.sum()
    # at_rest allows a millionth of the load
    assert rl.body_forces(result)[0, 1] == pytest.approx(-weight, rel=1e-6)


def test_mistakes_are_told_before_anything_is_computed(tmp_path):
    """Contract: one error each; a scene that does not come to rest writes nothing."""
    there = tmp_path / "there.toml"
    there.write_text("")
    for arguments, fragment in (
        (("settle", "beam", "--out", str(there)), "may hold changes of yours"),
        (("settle", "beam", "--out", "b.h5"), "--out is b.h5"),
        (("settle", "beam", "--max-seconds", "-1"), "max_seconds is -1"),
    ):
        answer = call(*arguments)
        assert answer.exit_code != 0
        assert fragment in str(answer.exception or "") + answer.output
    out = tmp_path / "boxes.toml"
    answer = call("settle", "container", "--max-seconds", "0.01", "--out", str(out))
    assert answer.exit_code != 0 and not out.exists()
    assert "not at rest after 0.01 s" in str(answer.exception or "") + answer.output
