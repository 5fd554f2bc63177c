#!/usr/bin/env python3
"""Ranks, threads of a rank and processors that launchers bind are understood; what cannot be is refused.

Launchers that are not there have stand-ins: the environment and the processors that they give.
"""

import json
import os
import unittest

import command

RUN = ("fft", "--size", "8x8x8", "--reps", "1", "--effort", "estimate", "--json", "-")
PROCESSORS = sorted(os.sched_getaffinity(0))


class Launchers(command.CommandTest):
    def figures(self, *line, **environment):
        """Of a run without OMP_NUM_THREADS but where it is given."""
        result = self.start(["env", "-u", "OMP_NUM_THREADS", *(f"{k}={v}" for k, v in environment.items()), *line])
        self.assertEqual(result.status, 0, result.stderr)
        figures = json.loads(result.stdout)
        return figures["ranks"], figures["threads"]

    def test_a_rank_alone_has_all_processors_that_it_may_use(self):
        self.assertEqual(self.figures(command.COMMAND, *RUN), (1, len(PROCESSORS)))
        bound = ("taskset", "-c", str(PROCESSORS[-1]))
        self.assertEqual(self.figures(*bound, command.COMMAND, *RUN), (1, 1))

    def test_ranks_of_one_process_share_them(self):
        each = max(len(PROCESSORS) // 2, 1)
        self.assertEqual(self.figures(command.COMMAND, *RUN, "--ranks", "2"), (2, each))

    def test_OMP_NUM_THREADS_tells_how_many_threads_and_the_option_wins(self):
        self.assertEqual(self.figures(command.COMMAND, *RUN, OMP_NUM_THREADS="3"), (1, 3))
        self.assertEqual(self.figures(command.COMMAND, *RUN, OMP_NUM_THREADS="3,2"), (1, 3))  # of the outermost
        self.assertEqual(self.figures(command.COMMAND, *RUN, "--threads", "2", OMP_NUM_THREADS="3"), (1, 2))
        for wrong in ("", "many", "0", "-1"):
            self.assertEqual(self.figures(command.COMMAND, *RUN, OMP_NUM_THREADS=wrong), (1, len(PROCESSORS)))

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_ranks_that_a_launcher_binds_have_their_own(self):
        unbound = (command.MPIEXEC, "-n", "2")
        self.assertEqual(self.figures(*unbound, command.COMMAND, *RUN), (2, max(len(PROCESSORS) // 2, 1)))
        one = ("-n", "1", "taskset", "-c", str(PROCESSORS[0]), command.COMMAND, *RUN)
        other = ("-n", "1", "taskset", "-c", str(PROCESSORS[-1]), command.COMMAND, *RUN)
        self.assertEqual(self.figures(command.MPIEXEC, *one, ":", *other), (2, 1))

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_one_task_of_Slurms_is_a_rank_alone(self):
        self.assertEqual(self.figures(command.COMMAND, *RUN, SLURM_STEP_NUM_TASKS="1", SLURM_PROCID="0")[0], 1)

    def test_processes_that_do_not_meet_are_refused(self):
        # As srun starts them where it serves another MPI than this one.
        for rank in ("0", "1"):
            result = self.start([command.COMMAND, *RUN], environment={"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": rank})
            self.assertEqual(result.status, 2, result.stderr)
            self.assertEqual(result.stdout, "")
            told = [line for line in result.lines if "the launcher started 2 processes" in line]
            self.assertEqual(len(told), 1 if rank == "0" else len(told), result.stderr)


if __name__ == "__main__":
    unittest.main()
