"""The errors a user meets: each says what was found, what was expected and what to try."""


class RigidlimitError(Exception):
    """Base of every error that rigidlimit raises on purpose."""


class InputError(RigidlimitError, ValueError):
    """An argument, array or option that cannot be used: wrong shape, wrong sign, not finite."""


class SceneError(RigidlimitError, ValueError):
    """A scene that cannot be built or read: names the file and key, or the body."""


class ContactError(RigidlimitError, ValueError):
    """A geometric state without a contact normal (coincident centres, degenerate mesh)."""


class OutputError(RigidlimitError, OSError):
    """A result file that is missing, damaged, unfinished or of another schema."""


class SceneWarning(UserWarning):
    """A scene that can be computed but is hardly what was meant."""


class MissingExtra(RigidlimitError, ImportError):
    """An optional package is not installed; the message names the extra that brings it."""
