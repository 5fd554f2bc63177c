#include "penstock/cli/fft_prediction.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace penstock::cli {

model::PlannedFft describe_run(const Session& session, const machine::Machine& machine, const model::Fft& problem,
                               const fft::Decision& decision, fft::Output output) {
  const std::string_view name = session.team.transport_name();
  model::PlannedFft run{.fft = problem};
  run.nodes = session.nodes;
  run.ranks_per_node = (session.team.size() + session.nodes - 1) / session.nodes;
  run.threads = session.threads;
  run.ty = decision.grid.ty;
  run.tz = decision.grid.tz;
  run.planes_per_message = decision.grain;
  run.late_parts = decision.late_eighths;
  run.is_plane_in_cache = decision.is_plane_in_cache;
  run.is_output_as_input = output == fft::Output::as_input;
  run.is_node_shared = name == "threads" || name.starts_with("shm");
  const std::string_view network = name.starts_with("shm+") ? name.substr(4) : name;
  for (const machine::Transport& transport : machine.transports) {
    if (transport.name == network) {
      run.transport = network;
    }
  }
  return run;
}

}  // namespace penstock::cli
