#include "penstock/probe/device_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/probe/samples.hpp"
#include "penstock/transform/transform.hpp"

namespace penstock::probe {
namespace {

/// Samples of one call of `begin`, which gives work to `streams`, until all of it is done.
template <class Begin>
std::vector<double> sample_work(const std::vector<device::Stream*>& streams, const CalibrationOptions& options,
                                Begin begin) {
  return sample(options, [&](std::int64_t times) {
    const double begin_s = seconds();
    for (std::int64_t i = 0; i < times; ++i) {
      begin();
      for (device::Stream* const stream : streams) {
        stream->finish();
      }
    }
    return seconds() - begin_s;
  });
}

std::unique_ptr<device::Memory> zeros(const device::Device& device, std::uint64_t bytes) {
  auto memory = device.allocate(bytes);
  const std::vector<std::byte> source(std::min<std::uint64_t>(bytes, std::uint64_t{1} << 20));
  const std::unique_ptr<device::Stream> stream = device.make_stream();
  for (std::uint64_t at = 0; at < bytes; at += source.size()) {
    stream->copy_to_device(memory->location() + at, source.data(),
                           {.row_bytes = std::min<std::uint64_t>(source.size(), bytes - at)});
  }
  stream->finish();
  return memory;
}

/// Two arrays on the device and one on the host, far larger than any cache of the device, and little of its memory.
struct Arrays {
  explicit Arrays(const device::Device& device)
      : bytes(std::min(std::uint64_t{256} << 20, device.available_bytes() / 16)),
        from(zeros(device, bytes)),
        to(zeros(device, bytes)),
        host(device.allocate_host(std::min(std::uint64_t{64} << 20, bytes))) {
    std::ranges::fill(host->bytes(), std::byte{});
  }
  std::uint64_t bytes;
  std::unique_ptr<device::Memory> from;
  std::unique_ptr<device::Memory> to;
  std::unique_ptr<device::HostMemory> host;
  device::Rows rows() const { return {.row_bytes = host->bytes().size()}; }
};

/// Passes of one length, type and order.
struct PassKind {
  std::int64_t length;
  bool is_real;
  std::int64_t real_bytes;
  std::string reads;
  std::string writes;

  transform::DeviceShape shape() const {
    const auto adjacent = [](const std::string& order) {
      return order == "points" ? transform::Adjacent::points : transform::Adjacent::pencils;
    };
    return {.length = length,
            .kind = is_real ? transform::Kind::real_to_complex : transform::Kind::forward,
            .real_bytes = real_bytes,
            .source = adjacent(reads),
            .destination = adjacent(writes)};
  }
  std::int64_t points_written() const { return is_real ? length / 2 + 1 : length; }
  /// Of a pencil, read and written.
  std::int64_t bytes() const {
    return (is_real ? length : 2 * length) * real_bytes + points_written() * 2 * real_bytes;
  }
};

/// A pass over planes of `length` pencils each, as a cube has them, of `working_set_bytes` in all; over fewer pencils
/// where not even one plane fits.
class Pass {
 public:
  /// `library` and `arrays` must outlive it.
  Pass(transform::KernelLibrary& library, const PassKind& kind, std::int64_t working_set_bytes, const Arrays& arrays)
      : transform_(library, kind.shape()), bytes_of_pencil_(kind.bytes()) {
    pencils_.pencils = std::max<std::int64_t>(std::min(kind.length, working_set_bytes / kind.bytes()), 1);
    pencils_.outers = std::max<std::int64_t>(working_set_bytes / (kind.bytes() * pencils_.pencils), 1);
    const auto end_of = [&](const device::Memory& memory, std::int64_t points, const std::string& order) {
      const std::int64_t across = pencils_.pencils;
      transform::DeviceEnd end{.base = memory.location(), .pencil_stride = 1};
      if (order == "points") {
        end.point_stride = 1;
        end.pencil_stride = points;
        end.outer_stride = points * across;
      } else if (order == "pencils") {
        end.point_stride = across;
        end.outer_stride = points * across;
      } else {
        end.point_stride = across * pencils_.outers;
        end.outer_stride = across;
      }
      return end;
    };
    source_ = end_of(*arrays.from, kind.length, kind.reads);
    destination_ = end_of(*arrays.to, kind.points_written(), kind.writes);
  }

  void begin(device::Stream& stream) const { transform_.run(stream, source_, destination_, pencils_); }
  double bytes() const { return static_cast<double>(bytes_of_pencil_ * pencils_.pencils * pencils_.outers); }

 private:
  transform::DeviceTransform transform_;
  std::int64_t bytes_of_pencil_;
  transform::DevicePencils pencils_{};
  transform::DeviceEnd source_;
  transform::DeviceEnd destination_;
};

/// Passes that follow one another on the device, as those of a transform do.
Figure rate_of_pass(transform::KernelLibrary& library, const PassKind& kind, std::int64_t working_set_bytes,
                    const Arrays& arrays, const CalibrationOptions& options) {
  if (!transform::obstacle(library.device().properties(), kind.shape()).empty()) {
    return {};
  }
  const Pass pass(library, kind, working_set_bytes, arrays);
  const std::unique_ptr<device::Stream> stream = library.device().make_stream();
  return rate_of(pass.bytes(), sample(options, [&](std::int64_t times) {
                   const double begin_s = seconds();
                   for (std::int64_t i = 0; i < times; ++i) {
                     pass.begin(*stream);
                   }
                   stream->finish();
                   return seconds() - begin_s;
                 }));
}

/// What goes on of a copy to the host while as many passes as take about as long are under way.
Figure measure_bus_progress(const std::shared_ptr<const device::Device>& device, const Arrays& arrays,
                            const CalibrationOptions& options) {
  transform::KernelLibrary library(device);
  const Pass pass(library, {.length = 64, .is_real = false, .real_bytes = 4, .reads = "points", .writes = "points"},
                  static_cast<std::int64_t>(arrays.bytes), arrays);
  const std::unique_ptr<device::Stream> copying = device->make_stream();
  const std::unique_ptr<device::Stream> computing = device->make_stream();
  const auto copy = [&] { copying->copy_to_host(arrays.host->bytes().data(), arrays.from->location(), arrays.rows()); };
  const double copy_s = summary_of(sample_work({copying.get()}, options, copy)).min_s;
  const double pass_s = summary_of(sample_work({computing.get()}, options, [&] { pass.begin(*computing); })).min_s;
  const auto copies = std::max<std::int64_t>(static_cast<std::int64_t>(pass_s / copy_s + 0.5), 1);
  const auto passes = std::max<std::int64_t>(static_cast<std::int64_t>(copy_s / pass_s + 0.5), 1);
  const double copies_s = copy_s * static_cast<double>(copies);
  const double passes_s = pass_s * static_cast<double>(passes);
  std::vector<double> shares = sample_work({copying.get(), computing.get()}, options, [&] {
    for (std::int64_t i = 0; i < passes; ++i) {
      pass.begin(*computing);
    }
    for (std::int64_t i = 0; i < copies; ++i) {
      copy();
    }
  });
  for (double& share : shares) {
    share = std::clamp((passes_s + copies_s - share) / std::min(passes_s, copies_s), 0.0, 1.0);
  }
  std::ranges::sort(shares);
  return {.best = rounded(shares.back()),
          .median = rounded(shares[shares.size() / 2]),
          .samples = static_cast<int>(shares.size())};
}

}  // namespace

DeviceCosts measure_device(const std::shared_ptr<const device::Device>& device, const CalibrationOptions& options) {
  constexpr const char* name = "do_nothing";
  const Arrays arrays(*device);
  const std::unique_ptr<device::Stream> stream = device->make_stream();
  const auto nothing = device->compile(fmt::format("KERNEL(64) {}(LOCATION(place)) {{ }}\n", name), name);
  const device::Location from = arrays.from->location();
  const std::array<device::Argument, 1> place{from};
  std::byte* const host = arrays.host->bytes().data();
  const auto of_host = static_cast<double>(arrays.rows().row_bytes);
  const auto of_device = 2 * static_cast<double>(arrays.bytes);
  const auto sampled = [&](auto begin) { return sample_work({stream.get()}, options, begin); };
  return {
      .memory_bandwidth_bytes_per_s =
          rate_of(of_device, sampled([&] { stream->copy(arrays.to->location(), from, arrays.bytes); })),
      .to_device_bytes_per_s = rate_of(of_host, sampled([&] { stream->copy_to_device(from, host, arrays.rows()); })),
      .to_host_bytes_per_s = rate_of(of_host, sampled([&] { stream->copy_to_host(host, from, arrays.rows()); })),
      .launch_s = time_of(sampled([&] { stream->launch(*nothing, 1, 64, 0, place); })),
      .copy_latency_s = time_of(sampled([&] { stream->copy_to_device(from, host, {.row_bytes = 64}); })),
      .bus_progress = measure_bus_progress(device, arrays, options)};
}

std::vector<std::int64_t> device_pass_lengths(bool is_quick) {
  if (is_quick) {
    return {64, 67, 96};
  }
  return {16, 32, 48, 64, 67, 80, 96, 100, 120, 128, 144, 160, 192, 200, 256, 257, 320, 384, 512, 768, 1024};
}

std::vector<DevicePassRates> measure_device_passes(const std::shared_ptr<const device::Device>& device,
                                                   const std::vector<std::int64_t>& lengths,
                                                   const CalibrationOptions& options,
                                                   const std::function<void(const std::string&)>& progress) {
  constexpr int rounds = 2;
  // Those of plans, in the order of machine files: along y and z where the spectrum lies as the field does, or
  // transposed, and along x.
  constexpr std::array<std::pair<const char*, const char*>, 5> orders{{{"pencils", "pencils"},
                                                                       {"pencils", "points"},
                                                                       {"planes", "planes"},
                                                                       {"planes", "points"},
                                                                       {"points", "points"}}};
  const Arrays arrays(*device);
  transform::KernelLibrary library(device);
  const auto most = static_cast<std::int64_t>(arrays.bytes);  // of a cube's two arrays together, and of each
  const std::uint64_t cache = device->properties().cache_bytes;
  const auto in_cache = std::min(std::max(static_cast<std::int64_t>(cache / 4), std::int64_t{1} << 20), most / 2);
  const auto beyond = std::min(std::max(static_cast<std::int64_t>(4 * cache), std::int64_t{64} << 20), most);
  std::vector<DevicePassRates> all;
  for (const std::int64_t length : lengths) {
    for (const auto& [reads, writes] : orders) {
      for (const std::int64_t working_set_bytes : {in_cache, beyond}) {
        all.push_back({.length = length, .reads = reads, .writes = writes, .working_set_bytes = working_set_bytes});
      }
    }
  }
  for (int round = 0; round < rounds; ++round) {
    std::int64_t told = 0;
    for (DevicePassRates& each : all) {
      if (std::exchange(told, each.length) != each.length) {
        progress(fmt::format("the device's transforms of {} points, round {} of {}", each.length, round + 1, rounds));
      }
      CalibrationOptions fewer = options;
      fewer.samples = std::max(options.samples / (each.working_set_bytes == in_cache ? 2 : 8), 1);
      const auto improve = [&](Figure& figure, bool is_real, std::int64_t real_bytes) {
        const PassKind kind{.length = each.length,
                            .is_real = is_real,
                            .real_bytes = real_bytes,
                            .reads = each.reads,
                            .writes = each.writes};
        figure = better_rate(figure, rate_of_pass(library, kind, each.working_set_bytes, arrays, fewer));
      };
      improve(each.complex_double, false, 8);
      improve(each.complex_single, false, 4);
      improve(each.real_double, true, 8);
      improve(each.real_single, true, 4);
    }
  }
  std::erase_if(
      all, [](const DevicePassRates& each) { return each.complex_double.samples + each.complex_single.samples == 0; });
  return all;
}

}  // namespace penstock::probe
