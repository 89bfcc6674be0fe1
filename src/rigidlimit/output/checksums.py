"""Groups of HDF5 files that know by a checksum whether they are as they were written.

HDF5 itself reads whatever bits a disk gives back. The checksum is the CRC-32 of names and bytes of
all attributes and values of a group, in the order of their names, as its attribute ``checksum``.
"""

import zlib
from typing import TYPE_CHECKING

import numpy as np

from .limits import LIMITS

if TYPE_CHECKING:
    from h5py import Dataset, Group

CHECKSUM = "checksum"


def checksum(attributes: dict, arrays: dict) -> int:
    """CRC-32 of attributes and arrays by name; a name may hold groups, "contacts/gap"."""
    crc = 0
    for table in (attributes, arrays):
        for name in sorted(table):
            value = table[name]
            crc = zlib.crc32(name.encode(), crc)
            raw = value.encode() if isinstance(value, str) else np.asarray(value).tobytes()
            crc = zlib.crc32(raw, crc)
    return crc


def write_sealed(group: "Group", attributes: dict, arrays: dict) -> None:
    """Write attributes and arrays into an empty group, and their checksum."""
    for name, value in attributes.items():
        group.attrs[name] = value
    for name, values in arrays.items():
        large = np.size(values) > LIMITS.packed
        packed = {"compression": "gzip", "compression_opts": 1} if large else {}
        group.create_dataset(name, data=values, **packed)
    group.attrs[CHECKSUM] = checksum(attributes, arrays)


def contents(group: "Group") -> tuple[dict, dict]:
    """(attributes, arrays) of a group by name, the checksum left out."""
    attributes = {name: value for name, value in group.attrs.items() if name != CHECKSUM}
    arrays = {}

    def take(name: str, item: "Group | Dataset") -> None:
        if hasattr(item, "shape"):
            arrays[name] = item.asstr()[()] if item.dtype.kind == "O" else item[()]

    group.visititems(take)
    return attributes, arrays


def check(group: "Group", attributes: dict, arrays: dict) -> None:
    """Raises ValueError if ``contents`` of a group are not as written. Files of before have no
    checksums."""
    stored = group.attrs.get(CHECKSUM)
    if stored is not None and int(stored) != checksum(attributes, arrays):
        raise ValueError("its values are not those that were written (checksum)")
