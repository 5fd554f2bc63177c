#include "penstock/cli/core/machine_rates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "penstock/base/base.hpp"
#include "penstock/probe/probe.hpp"

namespace penstock::cli {

machine::Machine read_machine(const Session& session, const std::string& path) {
  machine::Machine machine = machine::detect();
  machine.name = host_name();
  if (const auto names = machine::described_names(); std::ranges::find(names, path) != names.end()) {
    throw Error(fmt::format(
        "--machine {}: a run wants the file of the machine that it runs on, as penstock calibrate writes it; "
        "penstock model takes the described ones",
        path));
  }
  if (!path.empty()) {
    session.team.together([&] { machine = machine::read(path); });
  }
  return machine;
}

template <class Real>
MachineRates find_rates(const Session& session, const machine::Machine& machine, const std::string& path,
                        const model::Fft& problem, std::span<std::byte> memory) {
  const machine::Node& node = machine.node;
  const int hosts = gas::Placement::count(session.team.placement().hosts);
  MachineRates figures{.machine = machine, .resources = {}, .source = path};
  figures.resources.cache_bytes = node.cache_bytes * hosts;
  if (path.empty()) {
    figures.source = "measured in this run";
    if (model::fft_memory_bytes(problem, figures.resources.cache_bytes) > 0) {
      figures.resources.memory_bandwidth_bytes_per_s = probe::memory_bandwidth(session.team, session.threads, memory);
    }
    figures.resources.fft_rate_flops =
        probe::fft_rate<Real>(session.team, session.threads, node, model::transformed_lengths(problem));
  } else {
    const std::int64_t busy_cores =
        std::min<std::int64_t>(node.cores * hosts, static_cast<std::int64_t>(session.team.size()) * session.threads);
    // The file's rate is of double precision; a vector register holds twice as many numbers of single.
    const double precision = sizeof(Real) == 4 ? 2 : 1;
    figures.resources.memory_bandwidth_bytes_per_s = node.memory_bandwidth_bytes_per_s * hosts;
    figures.resources.fft_rate_flops = node.fft_rate_flops_per_core * static_cast<double>(busy_cores) * precision;
  }
  return figures;
}

template MachineRates find_rates<float>(const Session&, const machine::Machine&, const std::string&, const model::Fft&,
                                        std::span<std::byte>);
template MachineRates find_rates<double>(const Session&, const machine::Machine&, const std::string&, const model::Fft&,
                                         std::span<std::byte>);

}  // namespace penstock::cli
