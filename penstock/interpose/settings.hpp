// What the environment asks of the preloaded library, and what it tells of the job.
#pragma once

namespace penstock::interpose {

/// What PENSTOCK_MPI asks for: MPI as it is, compiled datatypes, or these with a table of their use at the end.
enum class Mode { off, on, stats };

/// The value of PENSTOCK_MPI, `on` where it is not set. Says on standard error which values there are, once for each
/// process, where it has another one, and takes `on`.
Mode mode_from_environment();

/// Whether the launcher says that all ranks of this job run on this node; false where it does not say.
bool is_job_on_one_node();

}  // namespace penstock::interpose
