"""Names of ``rigidlimit.distributed``, which are imported when first used, for type checkers."""

from .copies import images_of as images_of
from .copies import write_copies as write_copies
from .dump import network_of_dump as network_of_dump
from .forces import forces_of_file as forces_of_file
from .network import ContactNetwork as ContactNetwork
from .ranks import OtherRankError as OtherRankError
from .result import DistributedForces as DistributedForces
from .result import RubbingForces as RubbingForces

__all__: list[str]
