"""Records of kernels that are passed by reference.

A named tuple of arrays is passed to a compiled function field by field, each with its reference
counted: some 5 ns a field and call. A struct is one pointer, and its fields can be set.

Numbers and arrays are read into local names before a loop: the compiler cannot know that a store
into an array leaves the fields alone.
"""

from numba import types
from numba.experimental import structref


class StructType(types.StructRef):
    """Base of the types that numba gives to structs; see ``define``."""

    def preprocess_fields(self, fields: tuple) -> tuple:
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


def define(struct: type, kind: type[StructType]) -> None:
    """Lets kernels call ``struct`` with its annotated fields in their order, and read and set them.

    kind: a type of its own, registered by ``structref.register``, so that numba's cache finds it.
    """
    structref.define_constructor(struct, kind, list(struct.__annotations__))
