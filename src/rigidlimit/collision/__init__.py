"""Contact search: from poses of bodies to contacts."""

from .contacts import Contacts
from .search import find_contacts

__all__ = ["Contacts", "find_contacts"]
