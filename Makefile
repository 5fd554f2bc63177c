# The commands of a developer's day, each a thin call of CMake, CTest or a script. `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help deps build test quick test-thorough test-mpich test-clang test-asan test-tsan test-aarch64 fuzz demo bench simulate test-simulate pictures site deb test-deb format lint clean

JOBS ?= $(shell nproc)
CMAKE_FLAGS ?=

# More ranks than cores, and root in a container: Open MPI wants to be told that both are meant.
export OMPI_ALLOW_RUN_AS_ROOT = 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1
export OMPI_MCA_rmaps_base_oversubscribe = 1

build_preset = cmake --preset $(1) $(CMAKE_FLAGS) && cmake --build --preset $(1) --parallel $(JOBS) $(2)
# Two slots to a core: see cmake/PenstockTest.cmake.
test_preset = $(call build_preset,$(1),) && ctest --preset $(1) --parallel $(shell expr 2 \* $(JOBS)) $(2)

help:  ## list these targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

deps:  ## install what is missing of debian-packages.txt (root or sudo)
	scripts/install-packages

build: deps  ## build; the command is build/release/penstock
	$(call build_preset,release)

test: deps  ## build, and run the tests with Open MPI
	$(call test_preset,release)

quick:  ## build and run the tests of the modules that have changed since the last commit
	scripts/quick

test-thorough: deps  ## run the tests of `make test`, and more: other numbers of ranks, other networks
	$(call test_preset,release,-C thorough)

test-mpich: deps  ## build, and run the tests with MPICH
	$(call test_preset,mpich)

test-clang: deps  ## build with Clang, and run the tests
	scripts/install-packages clang-16
	$(call test_preset,clang)

test-asan: deps  ## run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	$(call test_preset,asan)

test-tsan: deps  ## run the tests without MPI under ThreadSanitizer
	$(call test_preset,tsan)

test-aarch64:  ## test layouts and movers for AArch64 under an emulator
	scripts/test-aarch64

fuzz:  ## fuzz TARGET (movers; or npy, volume, machine, journal, wisdom, arguments) for SECONDS (60)
	scripts/fuzz $(or $(TARGET),movers) $(or $(SECONDS),60)

demo: deps  ## build the command; transform a brain, filter it, check it, draw it into demo-out/
	$(call build_preset,release,--target penstock_command)
	scripts/demo

bench: build  ## time Penstock beside its peers
	scripts/bench

simulate: deps  ## run transforms on simulated parts of BlueGene/P, some minutes (docs/simulation.md)
	scripts/install-packages libsimgrid-dev
	$(call build_preset,simulate)
	simulate/run.py all build/simulate/penstock-simulate
	simulate/run.py table

test-simulate: deps  ## build that, and run small ones
	scripts/install-packages libsimgrid-dev
	$(call test_preset,simulate)

pictures:  ## draw the pictures of README.md into docs/pictures
	scripts/pictures

site: deps  ## make the pages into HTML, build/site
	scripts/site build/site

deb:  ## build the Debian packages into build/deb (docs/installing.md)
	scripts/build-packages

test-deb:  ## install them in a bare Debian, run what they have, remove them; as root
	scripts/test-packages

format: deps  ## format all sources
	git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

lint: deps  ## check formats, and run clang-tidy over the library
	git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror
	cmake --preset debug $(CMAKE_FLAGS)
	git ls-files 'penstock/*.cpp' | xargs --max-procs=$(JOBS) --max-args=4 clang-tidy -p build/debug --quiet

clean:  ## remove everything built
	rm -rf build demo-out
