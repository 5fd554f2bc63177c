// What runs over files larger than memory print alike.
#pragma once

#include <cstdint>
#include <string>

#include "penstock/cli/report/progress.hpp"
#include "penstock/percolate/percolate.hpp"

namespace penstock::cli {

std::string bytes_text(std::int64_t bytes);

/// Once the work has a journal: what the command says of it where it is interrupted.
void say_how_to_resume(const Session& session);

/// Shows the part that is done, and how long the rest will take.
void show(Progress& progress, const percolate::Progress& at);

/// Two lines of a table: the share of the threads' time that was spent waiting for what had not arrived, and what was
/// moved.
std::string describe_movement(const percolate::RunTimes& times, int threads);

}  // namespace penstock::cli
