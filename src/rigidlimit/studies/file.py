"""Studies as TOML files: a plan, its seeds and parameters."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import SceneError, nearest
from ..scenes.names import GALLERY
from ..scenes.toml.faults import first_fault
from ..scenes.toml.tables import PathTable
from .plan import USUAL, Plan

Value = float | int | str | bool | list[float]
"""What a parameter may be."""


class StudyTable(BaseModel):
    """The keys of a study file, see ``docs/howto/studies.md``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    scene: str
    seeds: int | list[int] = 1
    measures: list[str] = list(USUAL)
    steps: int | None = Field(default=None, ge=1)
    max_seconds: float | None = Field(default=None, gt=0)
    path: PathTable | list[PathTable] = []
    parameters: dict[str, Value | list[Value]] = {}
    options: dict[str, float | int | str | bool] = {}


@dataclass(frozen=True)
class StudyFile:
    """plan, seeds and parameters as ``study`` takes them."""

    plan: Plan
    seeds: int | list[int]
    parameters: dict[str, object]


def read_study_file(path: str | Path) -> StudyFile:
    """The study in a TOML file. Raises SceneError, one line that names file and key."""
    path = Path(path)
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise SceneError(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'no UTF-8 text'}"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"{path}: not valid TOML: {error}") from None
    try:
        table = StudyTable.model_validate(tables)
    except ValidationError as error:
        raise SceneError(f"{path}: {_fault(error)}") from None
    scene = table.scene if table.scene in GALLERY else path.parent / table.scene
    legs = table.path if isinstance(table.path, list) else [table.path]
    plan = Plan(
        scene,
        measures=tuple(table.measures),
        steps=table.steps,
        max_seconds=table.max_seconds,
        options=table.options,
        path=tuple(leg.model_dump(exclude_none=True) for leg in legs),
    )
    return StudyFile(plan, table.seeds, dict(table.parameters))


def _fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    if fault["loc"][0] == "path":
        return first_fault(error)
    place = fault["loc"][: 2 if fault["loc"][0] in ("parameters", "options") else 1]
    key = ".".join(map(str, place))
    if fault["type"] == "extra_forbidden":
        return f"{key}: unknown key; {nearest(key, StudyTable.model_fields)}"
    if fault["type"] == "missing":
        return f"{key}: missing; add a scene of the gallery or a TOML file"
    return f"{key}: found {fault['input']!r}; {fault['msg'].replace('Input should be', 'expected')}"
