"""Runs of many bodies, whose scenes are columns in the file."""

import warnings

import h5py
import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import OutputError
from rigidlimit.output.hdf5 import RunWriter, read_run
from rigidlimit.scenes import columns

SETTINGS = {"dt": 1e-3}


@pytest.fixture(autouse=True)
def many(monkeypatch):
    monkeypatch.setattr(columns, "MANY", 10)


def written(path, begin, steps, *, finish=True):
    simulation = rl.Simulation(rl.scenes.pyramid(3))
    writer = begin(path, simulation, SETTINGS)
    for _ in range(steps):
        writer.add(simulation.step())
    writer.checkpoint()
    if finish:
        writer.finish()
    writer.close()
    return simulation


def test_file_of_columns(tmp_path):
    """Property: a run of many bodies reads back the same; the text has no bodies, and the file
    says that it is of the schema with columns. Files of few bodies are as they were."""
    path = tmp_path / "run.h5"
    end = written(path, RunWriter.start, 3)
    run = read_run(path)
    np.testing.assert_array_equal(run[-1].position, end.state.position)
    assert run.bodies.names == end.scene.bodies.names
    np.testing.assert_array_equal(run.scene.external_force(), end.scene.external_force())
    with h5py.File(path) as file:
        assert file.attrs["schema_version"] == 2 and "[[bodies]]" not in file.attrs["scene"]
        np.testing.assert_array_equal(file["scene/position"][()], end.scene.state.position)
    simulation = rl.Simulation("beam")
    RunWriter.start(path, simulation, SETTINGS).finish()
    with h5py.File(path) as file:
        assert file.attrs["schema_version"] == 1 and "[[bodies]]" in file.attrs["scene"]


@pytest.mark.parametrize("before", [10, 1000])
def test_stopped_and_extended(tmp_path, monkeypatch, before):
    """Property: a run goes on to the same end after a stop and after its end, whether its scene was
    columns before or text, as in files of earlier versions."""
    path = tmp_path / "run.h5"
    whole = written(tmp_path / "whole.h5", RunWriter.start, 6)
    monkeypatch.setattr(columns, "MANY", before)
    written(path, RunWriter.start, 2, finish=False)
    monkeypatch.setattr(columns, "MANY", 10)
    with pytest.warns(rl.errors.UnfinishedRun):
        assert len(read_run(path).scene) == len(whole.scene)
    written(path, RunWriter.resume, 2)
    written(path, RunWriter.resume, 2)
    run = read_run(path)
    assert len(run) == 6
    np.testing.assert_array_equal(run[-1].position, whole.state.position)
    other = rl.Simulation(rl.scenes.pyramid(3, young_ratio=2.0))
    with pytest.raises(OutputError, match="of another scene"):
        RunWriter.resume(path, other, SETTINGS)


def test_damaged_columns_are_told(tmp_path):
    """Columns that are gone or of another length are one error that names the file."""
    path = tmp_path / "run.h5"
    wrong = {
        "mass": np.ones(2),
        "shapes": "[3]",
        "position": None,
        "pairs": np.array([[0, 10**6]]),  # of bodies that are not there
    }
    for name, value in wrong.items():
        written(path, RunWriter.start, 1)
        with h5py.File(path, "a") as file:
            file["scene"].pop(name, None)
            if name == "pairs":
                file["scene/pair_stiffness"] = np.ones(1)
            if value is not None:
                file[f"scene/{name}"] = value
        with pytest.raises(OutputError, match=r"run\.h5: damaged: .*run the scene again"):
            read_run(path)
    written(path, RunWriter.start, 1)
    with h5py.File(path, "a") as file:
        del file["scene/shapes"]
        file["scene/shapes"] = '[{"shape": "disk"}]'
        del file.attrs["checksum"]
    with pytest.raises(OutputError, match=r"run\.h5: damaged: .*radius: missing"):
        read_run(path)
    written(path, RunWriter.start, 1, finish=False)
    path.unlink()
    saved = tmp_path / "run.h5.parts" / "scene.npz"
    data = saved.read_bytes()
    for size in (0, 100, len(data) // 2, None):
        saved.unlink() if size is None else saved.write_bytes(data[:size])
        with warnings.catch_warnings(), pytest.raises(OutputError):
            warnings.simplefilter("ignore")
            read_run(path)
