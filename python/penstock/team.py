"""Teams of ranks: this process alone, or the ranks of an MPI communicator."""

import ctypes
import os
import weakref
from contextlib import contextmanager

from penstock._library import Error, call, library


def end(process: int, name: str, handle: ctypes.c_void_p) -> None:
    """Destroys an object of the library's, in the process that made it: a forked one has not its threads."""
    if os.getpid() == process:
        call(name, handle)


class Team:
    """An ordered group of ranks. Without a communicator it is this process alone, and no MPI is needed.

    `comm` is a communicator of mpi4py; making its team is collective over it. The team lives as long as what was made
    with it.
    """

    def __init__(self, comm=None):
        handle = ctypes.c_void_p()
        if comm is None:
            call("penstock_team_alone", ctypes.byref(handle))
        else:
            call("penstock_team_of_fortran", comm.py2f(), ctypes.byref(handle))
        self._handle = handle
        weakref.finalize(self, end, os.getpid(), "penstock_team_destroy", handle)

    @property
    def rank(self) -> int:
        """This rank's number, from 0."""
        return library.penstock_team_rank(self._handle)

    @property
    def size(self) -> int:
        """The number of ranks."""
        return library.penstock_team_size(self._handle)

    def barrier(self) -> None:
        """Collective: returns when every rank has called it."""
        call("penstock_team_barrier", self._handle)

    @contextmanager
    def together(self):
        """Collective: what fails in the block on one rank raises Error, with its sentence, on all of them behind it."""
        failure = None
        try:
            yield
        except Exception as error:
            failure = error
        sentence = b"" if failure is None else " ".join(str(failure).split()).encode(errors="replace") or b"a failure"
        try:
            call("penstock_team_agree", self._handle, sentence)
        except Error as agreed:
            raise agreed from failure
