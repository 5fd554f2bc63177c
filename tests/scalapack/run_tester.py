"""Runs one of ScaLAPACK's testers of PBLAS 3 on 4 ranks, our library preloaded: run_tester.py TESTER LIBRARY MPIEXEC.

Ends with 0 where the tester says that all its tests have passed.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

tester, library, mpiexec = sys.argv[1:]
inputs = f"P{pathlib.Path(tester).name[0].upper()}BLAS3TST.dat"
with tempfile.TemporaryDirectory() as folder:
    shutil.copy(pathlib.Path(tester).with_name(inputs), folder)
    run = subprocess.run(
        [mpiexec, "-n", "4", "env", f"LD_PRELOAD={library}", tester],
        cwd=folder,
        env=os.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
print(run.stdout)
# A row of its summary: the function, its tests, those that passed, failed, were skipped.
counts = [tuple(map(int, row)) for row in re.findall(r"\|\s+P\w+\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)", run.stdout)]
has_passed = bool(counts) and all(total == passed > 0 for total, passed, _, _ in counts)
sys.exit(0 if run.returncode == 0 and has_passed else 1)
