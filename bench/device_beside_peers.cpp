// Is our transform in device memory faster than cuFFT's and VkFFT's? In place, from one place to another, and of a
// field that comes from the host and goes back there; in the same run, repetitions interleaved, beside the bound of the
// device's memory and of its bus.
//
// usage: device_beside_peers [SIZE] [REPETITIONS] [double|single] [DEVICE]
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/device_peers.hpp"
#include "penstock/base/base.hpp"
#include "penstock/device/device.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/probe/probe.hpp"

namespace {

using namespace penstock;

struct Contender {
  std::string name;
  std::function<void()> run;
  std::vector<double> times_s = {};
};

template <class Real>
void compare(std::int64_t n, int repetitions, const std::string& selector) {
  using Complex = std::complex<Real>;
  const gas::Team team = gas::world_alone();
  const std::shared_ptr<const device::Device> device = device::open(selector);
  const device::Properties& properties = device->properties();
  const device::Rates rates = device::measure_rates(*device, device->available_bytes() / 8);
  fft::Options options;
  options.size = {n, n, n};
  const double begin_s = seconds();
  fft::DevicePlan<Real> plan(team, device, options);
  const double planning_s = seconds() - begin_s;
  const auto points = static_cast<std::size_t>(n * n * n);
  const std::uint64_t bytes = points * sizeof(Complex);
  const auto host_in = device->allocate_host(bytes);
  const auto host_out = device->allocate_host(bytes);
  std::ranges::fill(host_in->bytes(), std::byte{});
  const std::span<const Complex> in(reinterpret_cast<const Complex*>(host_in->bytes().data()), points);
  const std::span<Complex> out(reinterpret_cast<Complex*>(host_out->bytes().data()), points);
  const auto a = device->allocate(bytes);
  const auto b = device->allocate(bytes);
  const auto stream = device->make_stream();
  stream->copy_to_device(a->location(), host_in->bytes().data(), {.row_bytes = bytes});
  stream->finish();

  std::vector<Contender> contenders{{"Penstock, in place", [&] { plan.forward(a->location(), a->location()); }},
                                    {"Penstock, elsewhere", [&] { plan.forward(a->location(), b->location()); }},
                                    {"Penstock, from host to host", [&] { plan.forward(in, out); }}};
  std::vector<std::unique_ptr<bench::DevicePeer>> peers;
  if (properties.interface == device::Interface::cuda) {
    peers.push_back(bench::cufft_peer(b->location(), n, sizeof(Real)));
  } else {
    peers.push_back(bench::vkfft_peer(0, n, sizeof(Real)));
  }
  for (const auto& peer : peers) {
    if (peer != nullptr) {
      contenders.push_back({peer->name(), [&peer] { peer->run(); }});
    }
  }
  for (int i = -1; i < repetitions; ++i) {  // the first round warms up
    for (Contender& contender : contenders) {
      const double start_s = seconds();
      contender.run();
      if (i >= 0) {
        contender.times_s.push_back(seconds() - start_s);
      }
    }
  }
  const double memory_s = 6.0 * static_cast<double>(bytes) / rates.memory_bandwidth_bytes_per_s;
  const double bus_s =
      static_cast<double>(bytes) / rates.to_device_bytes_per_s + static_cast<double>(bytes) / rates.to_host_bytes_per_s;
  fmt::print("{}^3 {} complex on {} ({}), forward, {} interleaved repetitions; planned in {}\n", n,
             sizeof(Real) == 8 ? "double" : "single", properties.name, properties.driver, repetitions,
             format_seconds(planning_s));
  fmt::print(
      "  memory {:.1f} GB/s: three passes take {} at least; bus {:.1f} and {:.1f} GB/s: there and back take {}\n",
      rates.memory_bandwidth_bytes_per_s / 1e9, format_seconds(memory_s), rates.to_device_bytes_per_s / 1e9,
      rates.to_host_bytes_per_s / 1e9, format_seconds(bus_s));
  for (const fft::DeviceStagePlan& stage : plan.forward_stages()) {
    fmt::print("  {}: {}\n", "xyz"[stage.along], stage.kernel);
  }
  std::ranges::sort(contenders.front().times_s);
  const double ours_s = contenders.front().times_s.front();
  for (Contender& contender : contenders) {
    std::ranges::sort(contender.times_s);
    const double min_s = contender.times_s.front();
    fmt::print(
        "  {:<30} min {:<9} median {:<9} {:.2f} of ours in place; {:.2f} of the memory's bound, {:.2f} of the bus's\n",
        contender.name, format_seconds(min_s), format_seconds(contender.times_s[contender.times_s.size() / 2]),
        min_s / ours_s, memory_s / min_s, bus_s / min_s);
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    const auto word = [&](int i, const char* otherwise) { return std::string(count > i ? words[i] : otherwise); };
    const std::int64_t n = std::atoll(word(1, "64").c_str());
    const int repetitions = std::atoi(word(2, "10").c_str());
    const std::string selector = word(4, "");
    if (n < 1 || repetitions < 1 || (word(3, "double") != "double" && word(3, "double") != "single")) {
      throw Error("usage: device_beside_peers [SIZE] [REPETITIONS] [double|single] [DEVICE]");
    }
    word(3, "double") == "double" ? compare<double>(n, repetitions, selector)
                                  : compare<float>(n, repetitions, selector);
  } catch (const std::exception& error) {
    fmt::print(stderr, "device_beside_peers: {}\n", error.what());
    return 1;
  }
  return 0;
}
