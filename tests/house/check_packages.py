#!/usr/bin/env python3
"""Asserts that packages agree with the build: one version everywhere, CMake variables that there are, what is needed.

Usage: check_packages.py SOURCE_FOLDER. Prints what does not agree and exits 1, or exits 0.
"""

import contextlib
import pathlib
import re
import sys
import types

RECIPE = "packaging/spack_repo/penstock/packages/penstock/package.py"


def version_breaches(folder):
    """Where another version is named than CMake's."""
    version = re.search(r"project\(penstock VERSION (\S+)", (folder / "CMakeLists.txt").read_text())[1]
    minor = version.rpartition(".")[0]
    for name, pattern, wanted in (
        ("python/pyproject.toml", r'^version = "(.*)"', version),
        ("python/penstock/_library.py", r"\.so\.([0-9.]*)", minor),
        ("CITATION.cff", r"^version: (.*)", version),
        ("CHANGELOG.md", r"^## ([0-9.]+)", version),
        ("debian/changelog", r"^penstock \(([^)]*)\)", version),
        ("debian/control", r"^Package: libpenstock-\w+?(\d[0-9.]*)$", minor),
    ):
        for found in re.findall(pattern, (folder / name).read_text(), re.MULTILINE)[:2]:
            if found != wanted:
                yield f"{name}: version {found}, where CMakeLists.txt has {wanted}"
                break


class Variants:
    """A package's spec with all variants, or with none."""

    def __init__(self, has_all):
        self.has_all = has_all

    def satisfies(self, _):
        return self.has_all

    def __getitem__(self, _):
        return types.SimpleNamespace(mpicxx="mpicxx")


class Package:
    """What Spack's CMakePackage gives a recipe, as far as ours takes it."""

    def __init__(self, has_all):
        self.spec = Variants(has_all)

    def define(self, name, value):
        return name, value

    def define_from_variant(self, name, variant):
        if variant not in self.variants:
            raise KeyError(f"no variant {variant}")
        return name, variant


def recipe(folder):
    """The class of Spack's recipe, on stubs of Spack's modules; its variants by name."""
    variants = {}

    def variant(name, **_):
        variants[name] = True

    def ignored(*_, **__):
        pass

    directives = dict.fromkeys(("license", "version", "depends_on", "extends"), ignored)
    modules = {
        "spack_repo.builtin.build_systems.cmake": {"CMakePackage": Package, "generator": ignored},
        "spack.package": {**directives, "variant": variant, "python_purelib": "lib/python"},
    }
    with contextlib.ExitStack() as added:
        for name, names in modules.items():
            parts = name.split(".")
            for i in range(1, len(parts) + 1):
                sys.modules[".".join(parts[:i])] = types.ModuleType(".".join(parts[:i]))
                added.callback(sys.modules.pop, ".".join(parts[:i]), None)
            sys.modules[name].__dict__.update(names)
        scope = {"__file__": str(folder / RECIPE)}
        exec(compile((folder / RECIPE).read_text(), RECIPE, "exec"), scope)
    scope["Penstock"].variants = variants
    return scope["Penstock"]


def cmake_variables(folder):
    """What users may set, by option() and CACHE."""
    files = [folder / "CMakeLists.txt", *folder.glob("cmake/*.cmake")]
    text = "\n".join(file.read_text() for file in files)
    return set(re.findall(r"^\s*(?:option\(|set\((?=[^()]*CACHE))(\w+)", text, re.MULTILINE))


def option_breaches(folder):
    """CMake variables of packages that CMake does not know."""
    known = cmake_variables(folder) | {"MPI_CXX_COMPILER"}
    package = recipe(folder)
    for has_all in (True, False):
        for name, _ in package(has_all).cmake_args():
            if name not in known:
                yield f"{RECIPE}: CMake has no variable {name}"
    for name in re.findall(r"-D((?:PENSTOCK|BUILD)_\w+)", (folder / "debian/rules").read_text()):
        if name not in known:
            yield f"debian/rules: CMake has no variable {name}"


def need_breaches(folder):
    """What debian-packages.txt names to build and debian/control does not."""
    control = re.search(r"^Build-Depends:\n((?: .*\n)+)", (folder / "debian/control").read_text(), re.MULTILINE)[1]
    listed = re.search(r"^# To build\n((?:\S.*\n)+)", (folder / "debian-packages.txt").read_text(), re.MULTILINE)[1]
    needed = set(re.findall(r"^ ([a-z0-9+-]+)", control, re.MULTILINE)) | {"mpich", "openmpi-bin"}  # to run tests
    for name in re.findall(r"^([a-z0-9+-]+)", listed, re.MULTILINE):
        if name not in needed:
            yield f"debian/control: {name} is not in Build-Depends"


def breaches(folder):
    return [*version_breaches(folder), *option_breaches(folder), *need_breaches(folder)]


if __name__ == "__main__":
    found = breaches(pathlib.Path(sys.argv[1]))
    print("\n".join([*found, f"{len(found)} disagreements of packages"]))
    sys.exit(1 if found else 0)
