// `penstock calibrate`: measures this machine and writes its machine file.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "penstock/base/base.hpp"
#include "penstock/cli/calibrate/calibrate_device.hpp"
#include "penstock/cli/calibrate/calibrate_node.hpp"
#include "penstock/cli/calibrate/calibrate_transports.hpp"
#include "penstock/cli/calibrate/machine_curves.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/core/subcommand.hpp"
#include "penstock/cli/core/version.hpp"
#include "penstock/cli/report/json.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/progress.hpp"
#include "penstock/cli/report/result_file.hpp"
#include "penstock/cli/report/results.hpp"

namespace penstock::cli {
namespace {

struct CalibrateRequest {
  std::string output_path;
  std::string folder;
  std::optional<std::string> device;
  bool is_quick = false;
};

/// Lets this thread, and those that it starts, run on every processor that it can get, whatever the launcher bound it
/// to; as long as it lives.
class AllProcessors {
 public:
  AllProcessors() { ProcessorSet::all().bind_this_thread(); }
  ~AllProcessors() { before_.bind_this_thread(); }
  AllProcessors(const AllProcessors&) = delete;
  AllProcessors& operator=(const AllProcessors&) = delete;

 private:
  ProcessorSet before_ = ProcessorSet::of_this_thread();
};

/// Where -o writes to, or else this folder.
std::string folder_of(const CalibrateRequest& request) {
  if (!request.folder.empty()) {
    return request.folder;
  }
  const auto parent = std::filesystem::path(request.output_path).parent_path();
  return parent.empty() ? "." : parent.string();
}

std::string heading_of(const CalibratedMachine& calibrated, const Session& session, const CalibrateRequest& request,
                       double took_s) {
  std::string text = fmt::format(
      "Written by penstock calibrate{} (Penstock {}) on {:%Y-%m-%d %H:%M} UTC, in {}.\n"
      "Ranks: {} on {} node{}; MPI: {}.\n"
      "Bandwidths count bytes read and bytes written. \"Median 2 % off\": the median is that much worse than the "
      "best.\n",
      request.is_quick ? " --quick" : "", PENSTOCK_VERSION, fmt::gmtime(std::time(nullptr)), format_seconds(took_s),
      session.team.size(), session.nodes, session.nodes > 1 ? "s" : "", mpi_text());
  for (const std::string& reason : calibrated.left_out) {
    text += fmt::format("Left out: {}.\n", reason);
  }
  return text;
}

nlohmann::ordered_json to_json(const CalibratedMachine& calibrated, double took_s) {
  auto json = nlohmann::ordered_json::object();
  json["command"] = "calibrate";
  json["version"] = PENSTOCK_VERSION;
  json["machine"] = calibrated.machine.name;
  json["took_s"] = took_s;
  for (const auto& [key, figure] : calibrated.figures) {
    append(json, "figures",
           {{"key", key}, {"best", figure.best}, {"median", figure.median}, {"samples", figure.samples}});
  }
  json["left_out"] = calibrated.left_out;
  return json;
}

std::string summary_of(const CalibratedMachine& calibrated) {
  const machine::Node& node = calibrated.machine.node;
  std::string text =
      fmt::format("{}: {} cores, {:.1f} GFlop/s\n", calibrated.machine.name, node.cores, node.peak_flops / 1e9);
  for (const machine::ThreadBandwidth& each : node.thread_bandwidths) {
    text += fmt::format("memory, {} thread{}: copy {:.1f} GB/s, triad {:.1f} GB/s\n", each.threads,
                        each.threads > 1 ? "s" : "", each.copy_bytes_per_s / 1e9, each.triad_bytes_per_s / 1e9);
  }
  for (const machine::CacheLevel& each : node.caches) {
    text +=
        fmt::format("cache L{}: {}, {:.1f} GB/s\n", each.level,
                    format_bytes(static_cast<std::uint64_t>(each.capacity_bytes)), each.bandwidth_bytes_per_s / 1e9);
  }
  if (node.line_transfer_s) {
    text += fmt::format("cache line between cores: {}; an addition in a shared line {}\n",
                        format_seconds(*node.line_transfer_s), format_seconds(*node.false_sharing_s));
  }
  text += fmt::format("1-D transforms in cache: {:.1f} GFlop/s a core (complex double, 256 points)\n",
                      node.fft_rate_flops_per_core / 1e9);
  if (node.gemm_rate_flops_per_core > 0) {
    text += fmt::format("matrix multiply: {:.1f} GFlop/s a core\n", node.gemm_rate_flops_per_core / 1e9);
  }
  for (const machine::MemoryLevel& each : node.memory_levels) {
    text += fmt::format("{}: {:.2f} GB/s, {}\n", each.name, each.bandwidth_bytes_per_s / 1e9,
                        format_seconds(each.latency_s));
  }
  if (node.device) {
    text += fmt::format("device {}: memory {:.1f} GB/s, bus {:.1f} GB/s there and {:.1f} GB/s back, a launch {}\n",
                        node.device->name, node.device->memory_bandwidth_bytes_per_s / 1e9,
                        node.device->to_device_bytes_per_s / 1e9, node.device->to_host_bytes_per_s / 1e9,
                        format_seconds(node.device->launch_s));
  }
  for (const machine::Transport& each : calibrated.machine.transports) {
    text += fmt::format("transport {}: {} and {:.1f} GB/s, overheads {} and {}, gap {}, progress {:.2f}\n", each.name,
                        format_seconds(each.pieces.front().latency_s), each.pieces.back().bandwidth_bytes_per_s / 1e9,
                        format_seconds(each.send_overhead_s), format_seconds(each.receive_overhead_s),
                        format_seconds(each.gap_s), each.progress);
  }
  for (const std::string& reason : calibrated.left_out) {
    text += fmt::format("left out: {}\n", reason);
  }
  return text;
}

void run_calibrate(Session& session, const CalibrateRequest& request) {
  Results results(session, "calibrate");
  ResultFile output(session, "--output", request.output_path);
  const std::string folder = folder_of(request);
  session.team.together([&] {
    if (session.is_first() && access(folder.c_str(), W_OK | X_OK) != 0) {
      throw Error(
          fmt::format("{}: no file can be written there, and the disk is measured by one: give --disk FOLDER", folder));
    }
  });
  std::shared_ptr<const device::Device> device;
  session.team.together([&] {
    if (session.is_first() && request.device) {
      device = device::open(*request.device == "any" ? std::string_view() : std::string_view(*request.device));
    }
  });
  session.has_begun_work = true;
  const trace::Recording recording(session.recorder());
  const double begin_s = seconds();
  CalibratedMachine calibrated;
  calibrated.machine.name = host_name();
  calibrated.machine.year = 1900 + fmt::gmtime(std::time(nullptr)).tm_year;
  calibrated.machine.count = 1;
  calibrated.comments.of_key["year"] = "of the measurement";
  probe::CalibrationOptions options;
  if (request.is_quick) {
    options.samples = 6;
    options.sample_s = 1e-3;
  }
  Progress progress(session);
  double done_s = 0;
  const TellStep tell = [&](const std::string& step, double usual_s) {
    const percolate::Progress at{
        .done = done_s,
        .total = usual_node_s + usual_transports_s(session) + (request.device ? usual_device_s : 0),
        .elapsed_s = seconds() - begin_s};
    progress.show(done_s > 0 ? fmt::format("{}, {}", step, time_left(at.left_s())) : step);
    done_s += usual_s;
  };
  session.team.together([&] {
    if (session.is_first()) {
      const AllProcessors all;
      options.threads = static_cast<int>(std::min<std::int64_t>(machine::detect().node.cores, usable_processors()));
      calibrate_node(calibrated, options, folder, tell);
      if (device != nullptr) {
        calibrate_device(calibrated, device, options, request.is_quick, tell);
      }
    }
  });
  calibrate_transports(calibrated, session, options, tell);
  progress.show("");
  const double took_s = seconds() - begin_s;
  session.team.together([&] {
    if (!session.is_first()) {
      return;
    }
    calibrated.comments.heading = heading_of(calibrated, session, request, took_s);
    const std::string text = machine::format(calibrated.machine, calibrated.comments);
    machine::parse(text, "the machine file");  // what was measured may be nothing that a machine can have
    output.write(text);
    results.write(to_json(calibrated, took_s), {{"curves", machine_curves(calibrated.machine)}});
    if (session.has_table()) {
      write_output(request.output_path == "-" ? "" : request.output_path.empty() ? text : summary_of(calibrated));
    }
  });
}

}  // namespace

Body declare_calibrate(CLI::App& app) {
  auto request = std::make_shared<CalibrateRequest>();
  add_value(app, "--output,-o", "FILE.toml", "Write the machine file here, and a summary to standard output",
            [request](const std::string& text) { request->output_path = text; });
  add_value(app, "--disk", "FOLDER", "Measure the disk that holds this folder (that of the machine file)",
            [request](const std::string& text) { request->folder = text; });
  add_value(app, "--device", "any|cuda:N|opencl:N",
            "Measure an accelerator of this node too, with its bus (docs/devices.md)",
            [request](const std::string& text) { request->device = text; });
  app.add_flag("--quick", request->is_quick,
               "A quarter of the samples, and shorter ones: less sure, in a quarter of the time");
  return [request](Session& session) { run_calibrate(session, *request); };
}

}  // namespace penstock::cli
