"""Every Python block of the README runs and prints what it says."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block(number, capsys):
    """Example: the block runs; a comment after print is what it prints."""
    exec(compile(BLOCKS[number], f"README block {number}", "exec"), {})
    printed = capsys.readouterr().out
    for promised in re.findall(r"print\(.*\)  # (.*)", BLOCKS[number]):
        assert promised in printed
    assert printed.strip()
