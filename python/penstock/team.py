"""Teams of ranks: this process alone, or the ranks of an MPI communicator."""

import ctypes
import weakref

from penstock._library import call, library


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
        weakref.finalize(self, call, "penstock_team_destroy", handle)

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
