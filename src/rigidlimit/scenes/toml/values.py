"""Numbers, text and arrays as TOML writes them."""

import json

import numpy as np


def toml_value(value: object) -> str:
    """One TOML value; floats in the shortest form that reads back the same."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return repr(float(value))
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml_value(v)}" for key, v in value.items()) + " }"
    if np.ndim(value) == 0 and isinstance(value, np.ndarray):
        return toml_value(value[()])
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + "".join(f"    {toml_value(v)},\n" for v in value) + "]"
    return "[" + ", ".join(toml_value(v) for v in value) + "]"
