// `penstock model pingpong`: messages between two ranks.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/parse.hpp"
#include "penstock/study/study.hpp"

namespace penstock::study {
namespace {

Quantities evaluate_message(const std::string& transport_name, const Case& at) {
  if (at.machine.transports.empty()) {
    throw Error(fmt::format("{} describes no transport: give --machine", at.machine.name));
  }
  const double bytes = at.number("bytes");
  if (bytes < 1) {
    throw Error(fmt::format("a message of {} bytes has no bandwidth: give 1 or more", bytes));
  }
  const auto time_on = [&](const machine::Machine& machine) {
    return model::message_time_s(model::find_transport(machine, transport_name).pieces, bytes);
  };
  const machine::Transport transport = model::find_transport(at.machine, transport_name);
  const machine::MessagePiece& piece = model::piece_of(transport.pieces, bytes);
  const double half = piece.latency_s * piece.bandwidth_bytes_per_s;
  const double time_s = time_on(at.machine);
  Quantities quantities = {
      {"transport", "transport", Unit::text, 0, transport.name, false},
      {"bytes", "message", Unit::bytes, bytes},
      {"time_s", "time", Unit::seconds, time_s},
      {"bandwidth_bytes_per_s", "bandwidth", Unit::bytes_per_s, rate_of(bytes, time_s)},
      {"latency_s", "T_l", Unit::seconds, piece.latency_s},
      {"asymptotic_bytes_per_s", "B", Unit::bytes_per_s, piece.bandwidth_bytes_per_s},
      {"half_bytes", "N1/2", Unit::bytes, half},
      {"gain_of_bandwidth", "gain of 2 B", Unit::number, model::gain_of_bandwidth(bytes, half, 2)},
      {"gain_of_latency", "gain of T_l / 2", Unit::number, model::gain_of_latency(bytes, half, 2)}};
  return quantities;
}

}  // namespace

OptionedStudy pingpong_study() {
  Study described;
  described.name = "pingpong";
  described.numbers = {{"bytes", 8}};
  described.plotted = {"bandwidth_bytes_per_s"};
  described.default_sweep = "bytes=1..4194304:x4";
  OptionedStudy all = with_options(std::move(described));
  auto transport = std::make_shared<std::string>();
  all.add_value("--transport", "NAME", "Of the machine's transports (its first)",
                [transport](const std::string& text) { *transport = text; });
  all.study->evaluate = [transport](const Case& at) { return evaluate_message(*transport, at); };
  return all;
}

}  // namespace penstock::study
