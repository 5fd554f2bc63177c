// The timeline of a run, as a file.
#pragma once

#include "penstock/cli/core/session.hpp"
#include "penstock/cli/report/result_file.hpp"

namespace penstock::cli {

/// What heads the timelines of this command.
timeline::Heading timeline_heading(const Session& session);

/// Collective: writes the timeline of a run that has ended well, where it was recorded for `file`, and says so in the
/// table.
void write_timeline(Session& session, ResultFile& file);

}  // namespace penstock::cli
