"""Other programs and their files, each imported only when used."""

from .._support.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
