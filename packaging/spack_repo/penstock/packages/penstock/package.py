"""Penstock for Spack 1.0 and later: spack repo add packaging/spack_repo/penstock && spack install penstock."""

import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Penstock(CMakePackage):
    """Distributed FFTs, compiled data movers, a global address space, and matrix multiplies at machine speed."""

    # The repository that this recipe lies in.
    git = pathlib.Path(__file__).resolve().parents[5].as_uri()

    license("BSD-3-Clause", when="~fftw")
    license("GPL-2.0-or-later", when="+fftw")

    version("main", branch="main")

    variant("mpi", default=True, description="Ranks in several processes")
    variant("shared", default=True, description="The library for C++ as a shared one")
    variant("ucx", default=False, when="+mpi", description="The transport ucx")
    variant("openblas", default=True, description="Matrix multiplies")
    variant("hdf5", default=False, description="Fields in HDF5 files")
    variant("uring", default=True, description="Files through io_uring where the kernel has it")
    variant("fftw", default=False, description="FFTW as one more local transform, which puts the binaries under the GPL")
    variant("python", default=False, description="The package for Python")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("nlohmann-json@3.10:", type="build")
    depends_on("fmt@9:")
    depends_on("tomlplusplus@3:")
    depends_on("zlib-api")
    depends_on("mpi", when="+mpi")
    depends_on("ucx@1.13:", when="+ucx")
    depends_on("openblas threads=pthreads", when="+openblas")
    depends_on("hdf5@1.10.3: ~mpi", when="+hdf5")
    depends_on("liburing", when="+uring")
    depends_on("fftw@3.3.9: precision=float,double", when="+fftw")
    depends_on("fftw +mpi", when="+fftw+mpi")
    # Made from the command's help: manual pages and completion.
    depends_on("python@3.9:", type="build")
    extends("python", when="+python")
    depends_on("py-numpy@1.21:", type=("build", "run"), when="+python")
    depends_on("py-mpi4py@3:", type=("build", "run"), when="+python+mpi")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("PENSTOCK_BUILD_TESTS", False),
            self.define("PENSTOCK_BUILD_BENCH", False),
            self.define("PENSTOCK_BUILD_EXAMPLES", False),
            self.define("PENSTOCK_ASMJIT", False),  # Spack has no AsmJit: copies go by kernels compiled ahead of time
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("PENSTOCK_MPI", "mpi"),
            self.define_from_variant("PENSTOCK_UCX", "ucx"),
            self.define_from_variant("PENSTOCK_GEMM", "openblas"),
            self.define_from_variant("PENSTOCK_HDF5", "hdf5"),
            self.define_from_variant("PENSTOCK_URING", "uring"),
            self.define_from_variant("PENSTOCK_FFTW", "fftw"),
        ]
        if self.spec.satisfies("+mpi"):
            args.append(self.define("MPI_CXX_COMPILER", self.spec["mpi"].mpicxx))
        if self.spec.satisfies("+python"):
            args.append(self.define("PENSTOCK_PYTHON_FOLDER", python_purelib))
        return args

    def test_transform(self):
        """a field is transformed and checked"""
        command = which(self.prefix.bin.penstock, required=True)
        out = command("fft", "--size", "32x30x28", "--transport", "threads", "--check", output=str.split, error=str.split)
        check_outputs([r"Error +[0-9.e-]+ by random projections"], out)

    def test_manual(self):
        """the manual pages of the subcommands are installed"""
        assert (pathlib.Path(self.prefix) / "share/man/man1/penstock-fft.1").exists()
