// The settings of the preloaded library that come from the environment.
#pragma once

namespace penstock::interpose {

/// The modes of PENSTOCK_MPI: MPI as it is; compiled datatypes; these, and a table of their use at the end.
enum class Mode { off, on, stats };

/// The value of PENSTOCK_MPI; `on` where it is not set. For an unknown value writes the known ones to standard error,
/// and returns `on`. Called once in a process.
Mode mode_from_environment();

/// Whether the launcher's variables say that all ranks of this job run on this node. False where it sets none.
bool is_job_on_one_node();

}  // namespace penstock::interpose
