"""The command line: ``rigidlimit``. One file a command; mistakes are one line and exit code 2."""

import sys
import warnings


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the program ``rigidlimit``."""
    try:
        from .interrupts import deferred

        with deferred():
            _run(arguments)
    except KeyboardInterrupt:  # before a command began
        print("stopped; nothing was written", file=sys.stderr)
        raise SystemExit(130) from None


def _run(arguments: list[str] | None) -> None:
    from ..errors import RigidlimitError

    warnings.showwarning = _in_one_line
    try:
        from .app import app

        app(args=arguments, prog_name="rigidlimit")
    except SystemExit as end:  # typer's own, where Ctrl-C struck as it read the arguments
        struck = getattr(end.__context__, "__cause__", None)
        if not isinstance(struck, KeyboardInterrupt):
            raise
        raise struck from None
    except RigidlimitError as error:
        print(f"rigidlimit: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:
        raise SystemExit(141) from None
    except OSError as error:  # the disk is full, the terminal gone
        where = "" if error.filename is None else f"{error.filename}: "
        print(f"rigidlimit: {where}{error.strerror or error}", file=sys.stderr)
        raise SystemExit(2) from None
    except MemoryError as error:
        said = f" ({error})" if str(error) else ""
        print(f"rigidlimit: not enough memory{said}; take a smaller scene", file=sys.stderr)
        raise SystemExit(2) from None


def _in_one_line(message, category, filename, lineno, file=None, line=None) -> None:
    """A warning as a user of the program reads it: without the line of Python that raised it."""
    print(f"rigidlimit: warning: {message}", file=sys.stderr)
