"""The gallery by name."""

from .gallery import SMOOTH
from .rough import ROUGH

GALLERY = SMOOTH | ROUGH
"""As ``rigidlimit scenes`` lists it."""
