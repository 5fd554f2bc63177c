// Is a product of matrices that do not fit device memory as fast as one in device memory? The same product in parts of
// the device's memory, and multiplies of matrices that lie there, by the device's own BLAS; in the same run,
// repetitions interleaved, beside the bounds of multiplies and of the bus.
//
// usage: device_multiplies [SECONDS] [double|single] [DEVICE]
//
// A multiply takes about SECONDS at the device's rate, or less where host memory has no room for such matrices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/device/device.hpp"
#include "penstock/gemm/gemm.hpp"

namespace {

using namespace penstock;

struct Contender {
  std::string name;
  double flops;
  std::function<void()> run;
  const gemm::DeviceMultiplyPlan* plan = nullptr;  // nullptr: the matrices lie in device memory
  std::vector<double> times_s = {};
};

/// n x n whole numbers in host memory that the device has pinned.
template <class T>
class HostMatrix {
 public:
  HostMatrix(const device::Device& device, std::int64_t n)
      : n_(n),
        memory_(static_cast<std::size_t>(n * n) * sizeof(T)),
        pinned_(device.pin({memory_.data(), memory_.size()})) {
    T* const elements = reinterpret_cast<T*>(memory_.data());
    for (std::int64_t i = 0; i < n * n; ++i) {
      elements[i] = static_cast<T>(i * 7 % 9 - 4);
    }
  }
  std::byte* data() const noexcept { return memory_.data(); }
  gemm::Block block() const noexcept { return {.data = memory_.data(), .leading = n_}; }

 private:
  std::int64_t n_;
  Memory memory_;
  std::unique_ptr<device::HostMemory> pinned_;
};

/// Multiplies of the largest matrices of n x n elements, of which three fit `memory_bytes` of the device.
class Resident {
 public:
  Resident(const device::Device& device, npy::DataType type, std::int64_t n, const std::byte* elements)
      : n_(n), real_bytes_(npy::element_bytes(type)), blas_(device.open_blas()), stream_(device.make_stream()) {
    const auto bytes = static_cast<std::uint64_t>(n * n * real_bytes_);
    for (int i = 0; i < 3; ++i) {
      matrices_.push_back(device.allocate(bytes));
      stream_->copy_to_device(matrices_.back()->location(), elements, {.row_bytes = bytes});
    }
    stream_->finish();
  }
  void run() {
    stream_->multiply(*blas_, {.m = n_,
                               .n = n_,
                               .k = n_,
                               .real_bytes = real_bytes_,
                               .a = {.location = matrices_[0]->location(), .leading = n_},
                               .b = {.location = matrices_[1]->location(), .leading = n_},
                               .c = matrices_[2]->location(),
                               .leading_c = n_});
    stream_->finish();
  }

 private:
  std::int64_t n_;
  std::int64_t real_bytes_;
  std::unique_ptr<device::Blas> blas_;
  std::unique_ptr<device::Stream> stream_;
  std::vector<std::unique_ptr<device::Memory>> matrices_;
};

/// The order of the matrices: a multiply takes `time_s` at most, and three matrices a third of the host's memory.
std::int64_t order_of(npy::DataType type, const gemm::DeviceRates& rates, double time_s) {
  const double by_time = std::cbrt(time_s * rates.flops / 2);
  const double by_memory =
      std::sqrt(static_cast<double>(available_memory_bytes()) / 9 / static_cast<double>(npy::element_bytes(type)));
  return std::max<std::int64_t>(static_cast<std::int64_t>(std::min(by_time, by_memory)) / 256 * 256, 256);
}

void print(std::vector<Contender>& contenders, double resident_flops) {
  for (Contender& contender : contenders) {
    std::ranges::sort(contender.times_s);
    const double min_s = contender.times_s.front();
    fmt::print("  {:<36} min {:<9} median {:<9} {:8.1f} GFlop/s, {:.3f} of resident", contender.name,
               format_seconds(min_s), format_seconds(contender.times_s[contender.times_s.size() / 2]),
               contender.flops / min_s * 1e-9, contender.flops / min_s / resident_flops);
    if (const gemm::DeviceMultiplyPlan* const plan = contender.plan; plan != nullptr) {
      fmt::print("; {} there and {} back, bus {} at least, predicted {}; {} tiles of {} x {}, panels {} deep",
                 format_bytes(plan->to_device_bytes), format_bytes(plan->to_host_bytes), format_seconds(plan->bus_s),
                 format_seconds(plan->predicted_s), plan->tiles, plan->tiling.tile_m, plan->tiling.tile_n,
                 plan->tiling.depth);
    }
    fmt::print("\n");
  }
}

template <class T>
void compare(double time_s, const std::string& selector) {
  const npy::DataType type = npy::data_type<T>();
  const std::shared_ptr<const device::Device> device = device::open(selector);
  const gemm::DeviceRates rates = gemm::measure_device(*device, type, device->available_bytes() / 4);
  const std::int64_t n = order_of(type, rates, time_s);
  const HostMatrix<T> a(*device, n);
  const HostMatrix<T> b(*device, n);
  const HostMatrix<T> c(*device, n);
  const auto matrix_bytes = static_cast<std::uint64_t>(n * n) * sizeof(T);
  // A BLAS that copies matrices takes their memory twice.
  const std::int64_t most = static_cast<std::int64_t>(std::sqrt(device->available_bytes() / 8 / sizeof(T)));
  const std::int64_t resident_n = std::min({n, std::max<std::int64_t>(most / 256 * 256, 256), std::int64_t{32768}});
  const auto extent = static_cast<double>(n);
  const auto resident_extent = static_cast<double>(resident_n);

  Resident resident(*device, type, resident_n, a.data());
  std::vector<Contender> contenders{{fmt::format("in device memory, n = {}", resident_n),
                                     gemm::flops(type, resident_extent, resident_extent, resident_extent),
                                     [&] { resident.run(); }}};
  std::vector<std::unique_ptr<gemm::DeviceMultiply>> multiplies;
  for (const std::uint64_t part : {2, 8, 32}) {
    multiplies.push_back(std::make_unique<gemm::DeviceMultiply>(
        device, gemm::DeviceProduct{.type = type, .m = n, .n = n, .k = n},
        gemm::DeviceOptions{.memory_bytes = 3 * matrix_bytes / part, .rates = rates}));
    gemm::DeviceMultiply& multiply = *multiplies.back();
    contenders.push_back({fmt::format("in 1/{} of the matrices' memory", part),
                          gemm::flops(type, extent, extent, extent),
                          [&] { multiply.run(a.block(), b.block(), c.data(), n); }, &multiply.plan()});
  }
  constexpr int repetitions = 3;
  for (int i = -1; i < repetitions; ++i) {  // the first round warms up
    for (Contender& contender : contenders) {
      const double start_s = seconds();
      contender.run();
      if (i >= 0) {
        contender.times_s.push_back(seconds() - start_s);
      }
    }
  }
  const device::Properties& properties = device->properties();
  fmt::print("{} x {}, {}, on {} ({}), {} interleaved repetitions; bus {:.1f} and {:.1f} GB/s, memory {:.1f} GB/s\n", n,
             n, npy::name(type), properties.name, properties.driver, repetitions,
             rates.copies.to_device_bytes_per_s / 1e9, rates.copies.to_host_bytes_per_s / 1e9,
             rates.copies.memory_bandwidth_bytes_per_s / 1e9);
  const double resident_s = *std::ranges::min_element(contenders.front().times_s);
  print(contenders, contenders.front().flops / resident_s);
}

}  // namespace

int main(int count, char** words) {
  try {
    const auto word = [&](int i, const char* otherwise) { return std::string(count > i ? words[i] : otherwise); };
    const double time_s = std::atof(word(1, "5").c_str());
    if (!(time_s > 0) || (word(2, "double") != "double" && word(2, "double") != "single")) {
      throw Error("usage: device_multiplies [SECONDS] [double|single] [DEVICE]");
    }
    word(2, "double") == "double" ? compare<double>(time_s, word(3, "")) : compare<float>(time_s, word(3, ""));
  } catch (const std::exception& error) {
    fmt::print(stderr, "device_multiplies: {}\n", error.what());
    return 1;
  }
  return 0;
}
