// The timeline of a run, as a file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "penstock/cli/core/session.hpp"
#include "penstock/cli/report/result_file.hpp"

namespace penstock::cli {

/// What heads the timelines of this command.
timeline::Heading timeline_heading(const Session& session);

/// Collective: writes the timeline of a run that has ended well, where it was recorded for `file`, and says so in the
/// table.
void write_timeline(Session& session, ResultFile& file);

/// Collective: what the page shows of the timeline, on the first rank: the steps of that name, or everything. Null
/// where nothing was recorded, or more than a page should carry.
nlohmann::ordered_json timeline_of(Session& session, const std::string& step = {});

}  // namespace penstock::cli
