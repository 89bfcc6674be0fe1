"""The command line: ``rigidlimit``. One file a command; mistakes are one line and exit code 2."""

import sys


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the program ``rigidlimit``."""
    from ..errors import RigidlimitError
    from .app import app

    try:
        app(args=arguments, prog_name="rigidlimit")
    except RigidlimitError as error:
        print(f"rigidlimit: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:
        raise SystemExit(141) from None
