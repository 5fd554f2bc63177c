"""The first programs in C, Fortran and Python, made of what is installed alone, on two ranks.

Usage: faces.py c|fortran|python, with the environment variables PENSTOCK_PREFIX, where Penstock is installed, MPIEXEC
and MPIEXEC_NUMPROC_FLAG, COMPILER for C and Fortran, FLAGS for it, and VALGRIND, empty where there is none. Where the
size cannot be, each program must say so, and end with another status than 0.
"""

import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
PREFIX = pathlib.Path(os.environ["PENSTOCK_PREFIX"])
RANKS = 2
SENTENCE = "a size of 0x100x90"


def run(command, **changed):
    result = subprocess.run(command, env={**os.environ, **changed}, capture_output=True, text=True, timeout=120)
    print(shlex.join(map(str, command)), result.stdout, result.stderr, sep="\n")
    return result


def pkg_config(*arguments):
    folder = next(PREFIX.rglob("penstock-c.pc")).parent
    result = run(["pkg-config", *arguments, "penstock-c"], PKG_CONFIG_PATH=str(folder))
    assert result.returncode == 0
    return shlex.split(result.stdout)


def compiled(sources, folder):
    """The program, and the variables that it runs with."""
    program = folder / "first_transform"
    compiler = [*shlex.split(os.environ["COMPILER"]), *shlex.split(os.environ.get("FLAGS", ""))]
    made = run([*compiler, *sources, "-o", program, *pkg_config("--cflags", "--libs"), "-lm"])
    assert made.returncode == 0
    return [program], {"LD_LIBRARY_PATH": pkg_config("--variable=libdir")[0]}


def program_of(face, folder):
    if face == "c":
        return compiled([EXAMPLES / "first_transform.c"], folder)
    if face == "fortran":
        os.chdir(folder)  # where the compiler writes the module
        return compiled([*pkg_config("--variable=fortran_module"), EXAMPLES / "first_transform.f90"], folder)
    package = {"PYTHONPATH": pkg_config("--variable=python_path")[0]}
    return [sys.executable, "-B", EXAMPLES / "first_transform.py"], package


def main(face):
    with tempfile.TemporaryDirectory() as folder:
        program, environment = program_of(face, pathlib.Path(folder))
        launcher = [os.environ["MPIEXEC"], os.environ["MPIEXEC_NUMPROC_FLAG"], str(RANKS)]
        right = run([*launcher, *program], **environment)
        assert right.returncode == 0
        assert all(f"rank {rank}: " in right.stdout for rank in range(RANKS))
        if face == "c" and os.environ.get("VALGRIND"):
            leaks = ["--quiet", "--leak-check=full", "--show-leak-kinds=definite"]
            watched = run([os.environ["VALGRIND"], *leaks, *program], **environment)
            assert "points, error" in watched.stdout
            assert "libpenstock" not in watched.stderr  # MPI itself leaves memory behind
        wrong = run([*launcher, *program, "0"], **environment)
        assert wrong.returncode != 0
        assert wrong.stderr.count(SENTENCE) >= 1 and "points, error" not in wrong.stdout


main(sys.argv[1])
