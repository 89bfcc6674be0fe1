"""The gallery by name."""

from .gallery import SMOOTH
from .granular import GRANULAR
from .masonry import MASONRY
from .rough import ROUGH

GALLERY = SMOOTH | ROUGH | GRANULAR | MASONRY
"""As ``rigidlimit scenes`` lists it."""
