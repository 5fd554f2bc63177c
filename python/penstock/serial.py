"""Transforms of whole axes of one rank's arrays, by scipy.fft: the stages of what a plan of Penstock's cannot do."""

import functools
from typing import NamedTuple, Optional, Sequence

import numpy as np

from penstock._library import Error
from penstock.fft import new_memory


class Function(NamedTuple):
    """A transform of scipy.fft's: its forward function, and of sines and cosines the type, 1 to 4."""

    name: str
    type: Optional[int] = None

    @property
    def kind(self) -> Optional[str]:
        """FFTW's name of sines and cosines; None for Fourier's."""
        if self.type is None:
            return None
        return ("redft" if self.name == "dctn" else "rodft") + ("00", "10", "01", "11")[self.type - 1]


def _name_of(function):
    """The name of a function and the arguments that are given with it."""
    arguments = {}
    while isinstance(function, functools.partial):
        arguments = {**function.keywords, **arguments}
        if function.args:
            raise Error(f"a transform by {function}: give the type of a transform by its name")
        function = function.func
    return getattr(function, "__name__", str(function)), arguments


def function_of(pair) -> Function:
    """The transform that a pair of functions for forward and backward is; they are known by their names.

    Raises Error for others than fftn, rfftn, dctn and dstn, each with its inverse.
    """
    (forward, arguments), (backward, arguments_backward) = map(_name_of, pair)
    types = {"type": 2} if forward in ("dctn", "dstn") else {}
    chosen = {**types, **arguments}
    if (
        forward not in ("fftn", "rfftn", "dctn", "dstn")
        or backward != ("irfftn" if forward == "rfftn" else "i" + forward)
        or chosen != {**types, **arguments_backward}
        or chosen.keys() != types.keys()
        or chosen.get("type", 1) not in (1, 2, 3, 4)
    ):
        raise Error(f"transforms by {forward} and {backward}: give fftn, rfftn, dctn or dstn, and its inverse")
    return Function(forward, chosen.get("type"))


class _Direction:
    """One direction of a Serial, called as transform(input_array, output_array, normalize=...)."""

    def __init__(self, transform, input_array: np.ndarray, output_array: np.ndarray):
        self._transform = transform
        self.input_array = input_array
        self.output_array = output_array

    def __call__(self, input_array=None, output_array=None, **options) -> np.ndarray:
        if input_array is not None:
            self.input_array[...] = input_array
        self._transform(**options)
        if output_array is None:
            return self.output_array
        output_array[...] = self.output_array
        return output_array


class Serial:
    """A transform of some axes of arrays of `shape`, between arrays of its own: `forward` and `backward`.

    modes: of the one axis, where the spectrum has fewer than the points of the field.
    """

    def __init__(self, shape: Sequence[int], axes: Sequence[int], dtype, function: Function, modes=None, threads=None):
        from scipy import fft

        self._axes = tuple(axes)
        self._lengths = [shape[axis] for axis in axes]
        self._is_halved = function.name == "rfftn"
        self._modes = modes
        options = {"axes": self._axes, "workers": threads}
        if function.type is not None:
            options["type"] = function.type
        inverse = "irfftn" if self._is_halved else "i" + function.name
        self._forward = functools.partial(getattr(fft, function.name), **options)
        self._backward = functools.partial(getattr(fft, inverse), **options)
        if self._is_halved:
            self._backward = functools.partial(self._backward, s=self._lengths)
        last = self._axes[-1]
        self._whole = list(shape)
        self._whole[last] = shape[last] // 2 + 1 if self._is_halved else shape[last]
        kept = list(self._whole)
        if modes is not None:
            kept[last] = modes // 2 + 1 if self._is_halved else modes
        dtype = np.dtype(dtype)
        field = new_memory(int(np.prod(shape)), dtype).reshape(shape)
        dtype = np.result_type(dtype, np.complex64) if self._is_halved else dtype
        spectrum = new_memory(int(np.prod(kept)), dtype).reshape(kept)
        self.forward = _Direction(self._run_forward, field, spectrum)
        self.backward = _Direction(self._run_backward, spectrum, field)

    def _run_forward(self, normalize: bool = True) -> None:
        whole = self._forward(self.forward.input_array, norm="forward" if normalize else "backward")
        self._keep(whole, self.forward.output_array)

    def _run_backward(self, normalize: bool = False) -> None:
        spectrum = self.backward.input_array
        if self._modes is not None:
            spectrum = self._fill(spectrum)
        self.backward.output_array[...] = self._backward(spectrum, norm="backward" if normalize else "forward")

    def _parts(self, array: np.ndarray):
        """Its coefficients below wavenumber n/2, those above -n/2, and of an even number of modes n/2 and -n/2."""
        along = np.moveaxis(array, self._axes[-1], 0)
        n = self._modes
        positive = along[: (n + 1) // 2]
        if self._is_halved:
            return positive, along[:0], along[n // 2 : n // 2 + 1 - n % 2], along[:0]
        negative = along[len(along) - (n - 1) // 2 :]
        return positive, negative, along[n // 2 : n // 2 + 1 - n % 2], along[len(along) - n // 2 :][: 1 - n % 2]

    def _keep(self, whole: np.ndarray, kept: np.ndarray) -> None:
        """Leaves out modes: the coefficient of wavenumber n/2 is the sum of those of n/2 and -n/2."""
        if self._modes is None:
            kept[...] = whole
            return
        for source, target in zip(self._parts(whole)[:2], self._parts(kept)[:2]):
            target[...] = source
        middle, opposite = self._parts(whole)[2:]
        self._parts(kept)[2][...] = 2 * middle.real if self._is_halved else middle + opposite

    def _fill(self, kept: np.ndarray) -> np.ndarray:
        """The spectrum with zeros for the modes left out; half of wavenumber n/2's coefficient is -n/2's."""
        whole = np.zeros(self._whole, kept.dtype)
        for source, target in zip(self._parts(kept)[:2], self._parts(whole)[:2]):
            target[...] = source
        middle, opposite = self._parts(whole)[2:]
        coefficient = self._parts(kept)[2]
        middle[...] = (coefficient.real if self._is_halved else coefficient) / 2
        if not self._is_halved:
            opposite[...] = coefficient / 2
        return whole
