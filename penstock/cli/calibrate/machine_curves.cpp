#include "penstock/cli/calibrate/machine_curves.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "penstock/model/model.hpp"

namespace penstock::cli {
namespace {

struct Series {
  std::string name;
  std::vector<double> y;
};

struct Curves {
  const char* title;
  const char* x_name;
  const char* y_name;
  const char* unit;
  std::vector<double> x = {};
  std::vector<Series> series = {};
};

nlohmann::ordered_json to_json(const Curves& curves) {
  auto series = nlohmann::ordered_json::array();
  for (const Series& each : curves.series) {
    series.push_back({{"name", each.name}, {"y", each.y}});
  }
  return {{"title", curves.title}, {"x_name", curves.x_name}, {"y_name", curves.y_name},
          {"unit", curves.unit},   {"x", curves.x},           {"series", series}};
}

}  // namespace

nlohmann::ordered_json machine_curves(const machine::Machine& machine) {
  Curves memory{"Memory by threads", "threads", "read plus written, all threads together", "B/s"};
  memory.series = {{"copy", {}}, {"triad", {}}};
  for (const machine::ThreadBandwidth& each : machine.node.thread_bandwidths) {
    memory.x.push_back(static_cast<double>(each.threads));
    memory.series[0].y.push_back(each.copy_bytes_per_s);
    memory.series[1].y.push_back(each.triad_bytes_per_s);
  }
  Curves caches{"Caches by what they hold", "bytes", "read plus written by one core", "B/s"};
  caches.series = {{"copy", {}}};
  for (const machine::CacheLevel& each : machine.node.caches) {
    caches.x.push_back(static_cast<double>(each.capacity_bytes));
    caches.series[0].y.push_back(each.bandwidth_bytes_per_s);
  }
  Curves transforms{"1-D transforms by their length", "points", "one core, while all work", "Flop/s"};
  transforms.series = {{"complex double", {}}, {"complex single", {}}, {"real double", {}}, {"real single", {}}};
  for (const machine::FftRate& each : machine.node.fft_rates) {
    transforms.x.push_back(static_cast<double>(each.length));
    transforms.series[0].y.push_back(each.complex_double_flops);
    transforms.series[1].y.push_back(each.complex_single_flops);
    transforms.series[2].y.push_back(each.real_double_flops);
    transforms.series[3].y.push_back(each.real_single_flops);
  }
  Curves passes{"Transforms on the device by their length", "points", "read plus written by passes from far pencils",
                "B/s"};
  passes.series = {{"complex double", {}}, {"complex single", {}}, {"real double", {}}, {"real single", {}}};
  if (machine.node.device) {
    const std::vector<machine::DevicePass>& all = machine.node.device->passes;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const machine::DevicePass& each = all[i];
      const bool is_largest = i + 1 == all.size() || all[i + 1].working_set_bytes <= each.working_set_bytes;
      if (is_largest && each.reads == "planes" && each.writes == "points") {
        passes.x.push_back(static_cast<double>(each.length));
        passes.series[0].y.push_back(each.complex_double_bytes_per_s);
        passes.series[1].y.push_back(each.complex_single_bytes_per_s);
        passes.series[2].y.push_back(each.real_double_bytes_per_s);
        passes.series[3].y.push_back(each.real_single_bytes_per_s);
      }
    }
  }
  Curves messages{"Messages by transport", "bytes", "one message alone, as fitted", "s"};
  for (double bytes = 1; bytes <= 0x1p24; bytes *= 4) {
    messages.x.push_back(bytes);
  }
  for (const machine::Transport& each : machine.transports) {
    Series series{each.name, {}};
    for (const double bytes : messages.x) {
      series.y.push_back(model::message_time_s(each.pieces, bytes));
    }
    messages.series.push_back(series);
  }
  auto all = nlohmann::ordered_json::array();
  for (const Curves& curves : {memory, caches, transforms, passes, messages}) {
    if (curves.x.size() > 1 && !curves.series.empty()) {
      all.push_back(to_json(curves));
    }
  }
  return all;
}

}  // namespace penstock::cli
