"""The garbage collector while tests run: a process that compiles kernels and imports engines holds
a million objects that stay, and Python's settings go through all of them again and again."""

import gc

import pytest

from rigidlimit._support.compiling import SELDOM

gc.set_threshold(SELDOM, 20, 50)


@pytest.fixture(scope="module", autouse=True)
def _leave_alone_what_is_there():
    gc.freeze()
