"""The gallery by name."""

from .gallery import SMOOTH
from .masonry import MASONRY
from .rough import ROUGH

GALLERY = SMOOTH | ROUGH | MASONRY
"""As ``rigidlimit scenes`` lists it."""
