// `penstock gemm --device`: made-up matrices in host memory, multiplied on a device, timed and checked.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/cli/gemm/gemm.hpp"
#include "penstock/cli/gemm/made_up.hpp"
#include "penstock/cli/report/device_report.hpp"
#include "penstock/cli/report/file_report.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/progress.hpp"
#include "penstock/cli/report/results.hpp"
#include "penstock/cli/report/terminal.hpp"
#include "penstock/fft/fft.hpp"

namespace penstock::cli {
namespace {

constexpr std::array<std::string_view, 7> options_without_device{
    "--block", "--algorithm", "--layers", "--engine", "--no-scratch", "--verify-input", "--machine"};

/// What a run on a device found out.
struct DeviceProductReport {
  device::Properties device;
  gemm::DeviceMultiplyPlan plan;
  double pin_s = 0;
  double flops = 0;
  std::vector<double> times_s = {};
  gemm::DeviceResult last = {};
  std::optional<std::int64_t> wrong = {};

  double min_s() const { return std::max(*std::ranges::min_element(times_s), 1e-9); }
  std::string_view bound_by() const { return plan.bus_s > plan.multiply_s ? "bus" : "multiplies"; }
};

void check_options(const Session& session, const GemmOptions& options, std::span<const std::string> given) {
  if (options.size[0] == 0) {
    throw Error("--device multiplies matrices that are made up: give --size, and no files");
  }
  if (session.team.size() > 1) {
    throw Error(fmt::format("--device multiplies on one rank, and these are {}: start one", session.team.size()));
  }
  if (options.files.scalars.alpha.real() == 0) {
    throw Error("with --alpha 0 nothing is multiplied: leave --device out");
  }
  for (const std::string& option : given) {
    if (std::ranges::find(options_without_device, option) != options_without_device.end()) {
      throw Error(fmt::format("{} goes with multiplies on the processor, and not with --device: leave it out", option));
    }
  }
}

std::string describe_plan(const GemmOptions& options, const DeviceProductReport& report) {
  const gemm::DeviceMultiplyPlan& plan = report.plan;
  const gemm::DeviceTiling& tiling = plan.tiling;
  std::string text = report_line("Product", "{}, {} x {} by {} x {}, in host memory", npy::name(options.type),
                                 options.size[0], options.size[2], options.size[2], options.size[1]);
  text += describe_device(report.device, report.plan.rates.copies);
  text += report_line("BLAS", "{}, {:.4g} GFlop/s of matrices in device memory (measured in this run)", plan.library,
                      plan.rates.flops * 1e-9);
  text += report_line("Tiles", "{} of {} x {}, {} by {}; panels {} deep, of which {} of A and {} of B have room",
                      plan.tiles, tiling.tile_m, tiling.tile_n, tiling.goes_by_columns ? "column" : "row",
                      tiling.goes_by_columns ? "column" : "row", tiling.depth, tiling.slots_a, tiling.slots_b);
  text +=
      report_line("Memory", "{} on the device, of {} that may be taken; matrices {}", format_bytes(plan.device_bytes),
                  format_bytes(plan.memory_bytes), format_bytes(matrix_bytes(options)));
  return text + report_line("Prediction", "{}", format_seconds(plan.predicted_s));
}

std::string describe_results(const DeviceProductReport& report) {
  const gemm::DeviceMultiplyPlan& plan = report.plan;
  const double min_s = report.min_s();
  std::string text =
      report_line("Bus", "{} there, {} back; matrices pinned in {}", format_bytes(report.last.to_device_bytes),
                  format_bytes(report.last.to_host_bytes), format_seconds(report.pin_s));
  text += report_line("Time", "{} (best of {}), {}", strong(format_seconds(min_s)), report.times_s.size(),
                      strong(fmt::format("{:.4g} GFlop/s", report.flops / min_s * 1e-9)));
  text += report_line("Limit", "{}, set by the {} (multiplies {}, bus {}); {}", format_seconds(plan.limit_s()),
                      report.bound_by(), format_seconds(plan.multiply_s), format_seconds(plan.bus_s),
                      strong(fmt::format("{:.0f} % of it reached", 100 * plan.limit_s() / min_s)));
  if (report.wrong) {
    text += report_line("Check", "{}",
                        *report.wrong == 0 ? "exact, by random projections"
                                           : alarming(fmt::format("{} rows are wrong", *report.wrong)));
  }
  return text;
}

nlohmann::ordered_json to_json(const GemmOptions& options, const DeviceProductReport& report) {
  const gemm::DeviceMultiplyPlan& plan = report.plan;
  const gemm::DeviceTiling& tiling = plan.tiling;
  const double min_s = report.min_s();
  nlohmann::ordered_json json{{"type", npy::name(options.type)},
                              {"m", options.size[0]},
                              {"n", options.size[1]},
                              {"k", options.size[2]},
                              {"device", device_json(report.device, report.plan.rates.copies)},
                              {"library", plan.library},
                              {"device_gflops", plan.rates.flops * 1e-9},
                              {"call_s", plan.rates.call_s},
                              {"memory_bytes", plan.memory_bytes},
                              {"device_bytes", plan.device_bytes},
                              {"matrix_bytes", matrix_bytes(options)},
                              {"tiling",
                               {{"tiles", plan.tiles},
                                {"tile_m", tiling.tile_m},
                                {"tile_n", tiling.tile_n},
                                {"depth", tiling.depth},
                                {"slots_a", tiling.slots_a},
                                {"slots_b", tiling.slots_b},
                                {"slots_c", tiling.slots_c},
                                {"goes_by_columns", tiling.goes_by_columns}}},
                              {"to_device_bytes", report.last.to_device_bytes},
                              {"to_host_bytes", report.last.to_host_bytes},
                              {"pin_s", report.pin_s},
                              {"predicted_s", plan.predicted_s},
                              {"time_min_s", min_s},
                              {"times_s", report.times_s},
                              {"rate_gflops", report.flops / min_s * 1e-9},
                              {"limit_s", plan.limit_s()},
                              {"limit_multiply_s", plan.multiply_s},
                              {"limit_bus_s", plan.bus_s},
                              {"bound_by", report.bound_by()},
                              {"fraction_of_limit", plan.limit_s() / min_s}};
  if (report.wrong) {
    json["wrong_rows"] = *report.wrong;
  }
  return json;
}

/// A matrix, and its memory pinned as long as the result lives.
template <class T>
std::unique_ptr<device::HostMemory> pin(const device::Device& device, gemm::GlobalMatrix<T>& matrix) {
  return device.pin(std::as_writable_bytes(matrix.local()));
}

template <class T>
gemm::Block block_of(gemm::GlobalMatrix<T>& matrix, gemm::Op op) {
  return {.data = reinterpret_cast<const std::byte*>(matrix.local().data()),
          .leading = matrix.extents()[1],
          .is_transposed = op != gemm::Op::none};
}

template <class T>
void run_product(Session& session, const GemmOptions& options) {
  Results results(session, "gemm-device");
  const std::shared_ptr<const device::Device> device = fft::open_device(session.team, options.device);
  Progress progress(session);
  progress.show("making matrices");
  MadeUpMatrices<T> matrices = make_matrices<T>(session.team, options);
  fill(matrices.a, matrix_a);
  fill(matrices.b, matrix_b);

  progress.show("measuring the device");
  const gemm::DeviceProduct product{.type = options.type,
                                    .m = options.size[0],
                                    .n = options.size[1],
                                    .k = options.size[2],
                                    .scalars = options.files.scalars};
  gemm::DeviceMultiply multiply(
      device, product,
      {.memory_bytes = options.memory_bytes, .progress = [&](const percolate::Progress& at) { show(progress, at); }});
  session.has_begun_work = true;
  DeviceProductReport report{.device = device->properties(),
                             .plan = multiply.plan(),
                             .flops = gemm::flops(options.type, static_cast<double>(product.m),
                                                  static_cast<double>(product.n), static_cast<double>(product.k))};
  progress.show("");
  if (session.has_table()) {
    write_output(describe_plan(options, report));
    flush_output();
  }

  const double begin_s = seconds();
  const std::array pinned{pin(*device, matrices.a), pin(*device, matrices.b), pin(*device, matrices.c)};
  report.pin_s = seconds() - begin_s;
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    progress.show("multiplying", repetition + 1, options.repetitions);
    fill(matrices.c, matrix_c);
    const trace::Recording recording(session.recorder());
    const trace::Step step("multiply", repetition + 1);
    report.last = multiply.run(block_of(matrices.a, options.files.op_a), block_of(matrices.b, options.files.op_b),
                               reinterpret_cast<std::byte*>(matrices.c.local().data()), product.n);
    report.times_s.push_back(report.last.total_s);
  }
  if (options.wants_check) {
    progress.show("checking");
    report.wrong = wrong_rows_of(matrices.c, options);
  }
  progress.show("");
  if (session.has_table()) {
    write_output(describe_results(report));
  }
  results.write(to_json(options, report));
  if (report.wrong.value_or(0) > 0) {
    throw Error(fmt::format("the check has failed: {} rows of C are not what they must be", *report.wrong));
  }
}

}  // namespace

void run_gemm_device(Session& session, const GemmOptions& options, std::span<const std::string> given) {
  check_options(session, options, given);
  if (npy::is_complex(options.type)) {
    throw Error(fmt::format("--type {}: devices multiply matrices of float32 and float64", npy::name(options.type)));
  }
  if (options.type == npy::DataType::float32) {
    run_product<float>(session, options);
  } else {
    run_product<double>(session, options);
  }
}

}  // namespace penstock::cli
