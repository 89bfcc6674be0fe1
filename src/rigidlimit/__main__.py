"""``python -m rigidlimit``."""

from .cli import main

main()
