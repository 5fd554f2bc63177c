"""Transforms a wave forward and back on all ranks: mpirun -n 2 python3 first_transform.py [points along x]"""

import sys

import numpy as np
from mpi4py import MPI

import penstock

nx = int(sys.argv[1]) if len(sys.argv) > 1 else 96
plan = penstock.Plan((90, 100, nx), comm=MPI.COMM_WORLD)  # x is the last axis
field = plan.new_input()
field[...] = np.sin(0.1 * np.arange(field.size)).reshape(field.shape)
back = plan.backward(plan.forward(field))
error = np.abs(back - field).max(initial=0)
print(f"rank {plan.team.rank}: {field.size} points, error {error:.1e}")
sys.exit(int(error > 1e-14))
