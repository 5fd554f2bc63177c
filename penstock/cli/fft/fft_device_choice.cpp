#include "penstock/cli/fft/fft_device_choice.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "penstock/base/base.hpp"
#include "penstock/device/device.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/model/model.hpp"

namespace penstock::cli {
namespace {

/// The model's time on the rank with most, where it knows such transforms.
template <class Real>
std::optional<double> time_on_processors(const gas::Team& team, const FftOptions& options) {
  const fft::Plan<Real> plan(team, options.fft);
  const fft::Decision& decision = plan.decision();
  if (decision.modelled == nullptr) {
    return std::nullopt;
  }
  double time_s = 0;
  team.together([&] { time_s = model::planned_fft_time(decision.machine, *decision.modelled).total_s; });
  return team.largest(time_s);
}

template <class Real>
double time_on_devices(const gas::Team& team, const std::shared_ptr<const device::Device>& device,
                       const FftOptions& options) {
  const fft::DevicePlan<Real> plan(team, device, options.fft, fft::FieldsOn::host);
  double time_s = 0;
  team.together([&] {
    time_s = model::device_fft_time(*options.fft.machine, plan.modelled(*options.fft.machine, true)).total_s;
  });
  return team.largest(time_s);
}

template <class Real>
DeviceChoice choose(const Session& session, const FftOptions& options) {
  const gas::Team& team = session.team;
  if (!team.all_of(!device::list().empty())) {
    return {.why = "there is none: on the processors"};
  }
  const std::shared_ptr<const device::Device> device = fft::open_device(team, "any");
  const std::string& described = options.fft.machine->node.device->name;
  if (!team.all_of(device->properties().name == described)) {
    return {.why = fmt::format("the machine file has another one, {}: on the processors", described)};
  }
  const std::string obstacle = fft::device_obstacle<Real>(device->properties(), options.fft);
  if (!team.all_of(obstacle.empty())) {
    return {.why = obstacle.empty() ? "that of another rank cannot: on the processors" : obstacle};
  }
  const std::optional<double> processors_s = time_on_processors<Real>(team, options);
  if (!processors_s) {
    return {.why = "the model knows no such transforms on processors, to compare: on the processors"};
  }
  double device_s = 0;
  try {
    device_s = time_on_devices<Real>(team, device, options);
  } catch (const Error& error) {
    team.check_revoked();
    return {.why = fmt::format("{}: on the processors", error.what())};
  }
  const bool pays = device_s < *processors_s;
  return {.pays = pays,
          .why = fmt::format("predicted {} through {}, {} on the processors: {}", format_seconds(device_s), described,
                             format_seconds(*processors_s), pays ? "through the device" : "on the processors")};
}

}  // namespace

DeviceChoice choose_device(const Session& session, const FftOptions& options) {
  if (options.machine_path.empty() || !options.fft.machine->node.device) {
    throw Error(
        "--device auto chooses by what the model predicts: give --machine FILE.toml of penstock calibrate --device "
        "any");
  }
  return *options.is_single ? choose<float>(session, options) : choose<double>(session, options);
}

}  // namespace penstock::cli
