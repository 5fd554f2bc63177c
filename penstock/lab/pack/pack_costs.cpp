#include "penstock/lab/pack/pack_costs.hpp"

#include <algorithm>

#include "penstock/base/base.hpp"
#include "penstock/datatype/datatype.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::lab {
namespace {

using layout::Layout;
using mover::Code;
using mover::Hint;
using mover::Mover;

double median(std::vector<double>& seconds) {
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

/// The median of what `measure()` returns, repeated up to 100 times in about 30 ms, at least 5 times.
template <class Measure>
double median_of(Measure measure) {
  std::vector<double> times;
  const double begin_s = seconds();
  while (times.size() < 5 || (times.size() < 100 && seconds() - begin_s < 0.03)) {
    times.push_back(measure());
  }
  return median(times);
}

Mover compile(const Layout& typed, PackOperation operation, Code code) {
  const Layout packed = Layout::contiguous(typed.bytes());
  return operation == PackOperation::pack ? Mover::compile(typed, packed, Hint::reuse, code)
                                          : Mover::compile(packed, typed, Hint::reuse, code);
}

}  // namespace

PackCosts measure_costs(const PackCase& pack_case, PackOperation operation, std::byte* array, std::byte* packed) {
  PackCosts costs;
  costs.mpi_commit_s = median_of([&] {
    Type type = pack_case.make_type();
    const double begin_s = seconds();
    type.commit();
    return seconds() - begin_s;
  });
  Type type = pack_case.make_type();
  type.commit();
  const Layout typed = datatype::describe(type.get()).of(1);
  const auto compile_in_s = [&](Code code) {
    const double begin_s = seconds();
    const Mover mover = compile(typed, operation, code);
    return seconds() - begin_s;
  };
  costs.describe_s = median_of([&] {
    const double begin_s = seconds();
    const Layout described = datatype::describe(type.get()).of(1);
    return seconds() - begin_s;
  });
  costs.compile_s = median_of([&] { return compile_in_s(Code::never); });
  costs.has_code = compile(typed, operation, Code::at_once).has_code();
  if (costs.has_code) {
    costs.emit_s = std::max(0.0, median_of([&] { return compile_in_s(Code::at_once); }) - costs.compile_s);
  }
  const bool is_pack = operation == PackOperation::pack;
  std::byte* from = is_pack ? array + pack_case.offset : packed;
  std::byte* to = is_pack ? packed : array + pack_case.offset;
  costs.first_use_s = median_of([&] {
    const double begin_s = seconds();
    const Mover mover = compile(datatype::describe(type.get()).of(1), operation, Code::never);
    mover.move_part(from, to, 0, std::min<std::int64_t>(mover.bytes(), 64));
    return seconds() - begin_s;
  });
  return costs;
}

}  // namespace penstock::lab
