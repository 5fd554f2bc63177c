// Checks that pass on right transforms and fail on wrong ones, refusals of memory, and times.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/field/field.hpp"
#include "tests/fails_with.hpp"
#include "tests/worlds.hpp"

namespace penstock::field {
namespace {

using gas::on_worlds;
using gas::Team;

fft::Options options_for(const Extents& size, fft::Type type) {
  fft::Options options;
  options.size = size;
  options.type = type;
  options.effort = fft::Effort::estimate;
  return options;
}

template <class Real>
void expect_passes(const Team& team, fft::Options options, fft::Scaling scaling) {
  options.batch = 2;
  Fields<Real> fields(team, options);
  const auto noise = make_noise(options.size, options.type);
  const double error = check(team, fields, *noise, scaling);
  EXPECT_LE(error, tolerance<Real>(options.size));
  EXPECT_GT(error, 0);
}

TEST(Check, PassesOnUnevenSizes) {
  on_worlds({1, 2, 3, 4}, [](Team& team) {
    for (const Extents& size : {Extents{24, 25, 18}, Extents{13, 11, 7}, Extents{5, 3, 2}, Extents{1, 16, 32}}) {
      for (const fft::Type type : {fft::Type::c2c, fft::Type::r2c}) {
        expect_passes<double>(team, options_for(size, type), fft::Scaling::none);
        expect_passes<float>(team, options_for(size, type), fft::Scaling::symmetric);
      }
    }
  });
}

TEST(Check, PassesOnSinesAndCosinesAndSomeDirections) {
  on_worlds({1, 3}, [](Team& team) {
    fft::Options all = options_for({13, 11, 8}, fft::Type::r2r);
    all.kinds = {fft::RealKind::redft00, fft::RealKind::rodft10, fft::RealKind::redft11};
    fft::Options some = options_for({13, 11, 8}, fft::Type::r2c);
    some.along = {false, true, true};
    expect_passes<double>(team, all, fft::Scaling::symmetric);
    for (const fft::Extents& size : {fft::Extents{13, 11, 8}, fft::Extents{4, 9, 6}}) {
      fft::Options waves = options_for(size, fft::Type::r2r);
      waves.kinds = {fft::RealKind::r2hc, fft::RealKind::hc2r, fft::RealKind::dht};
      expect_passes<double>(team, waves, fft::Scaling::symmetric);
    }
    expect_passes<double>(team, some, fft::Scaling::symmetric);
  });
}

/// Noise, but with one number changed from the second time on that it is read.
class ForgetfulNoise final : public Source {
 public:
  explicit ForgetfulNoise(const Extents& size) : noise_(make_noise(size, fft::Type::c2c)) {}
  void fill(const fft::Box& box, int index, std::span<float> numbers) const override {
    noise_->fill(box, index, numbers);
  }
  void fill(const fft::Box& box, int index, std::span<double> numbers) const override {
    noise_->fill(box, index, numbers);
    if (box.lower == Extents{} && times_++ > 0) {
      numbers[0] += 1e-9;
    }
  }

 private:
  std::unique_ptr<Source> noise_;
  mutable int times_ = 0;
};

TEST(Check, FailsWhereOneNumberOfTheFieldIsAnother) {
  on_worlds({1, 3}, [](Team& team) {
    const Extents size{8, 8, 8};
    Fields<double> fields(team, options_for(size, fft::Type::c2c));
    const ForgetfulNoise source(size);
    std::vector<double> numbers(1024);
    source.fill({{0, 0, 0}, size}, 0, std::span(numbers));
    EXPECT_LE(check(team, fields, source, fft::Scaling::none), tolerance<double>(size));
    const ForgetfulNoise forgetful(size);
    EXPECT_GT(check(team, fields, forgetful, fft::Scaling::none), tolerance<double>(size));
  });
}

/// Noise, one number of which is none.
class Hole final : public Source {
 public:
  explicit Hole(const Extents& size) : noise_(make_noise(size, fft::Type::c2c)) {}
  void fill(const fft::Box& box, int index, std::span<float> numbers) const override {
    noise_->fill(box, index, numbers);
  }
  void fill(const fft::Box& box, int index, std::span<double> numbers) const override {
    noise_->fill(box, index, numbers);
    if (box.lower == Extents{} && !numbers.empty()) {
      numbers[0] = std::numeric_limits<double>::quiet_NaN();
    }
  }

 private:
  std::unique_ptr<Source> noise_;
};

TEST(Check, FailsWhereANumberIsNone) {
  on_worlds({1, 2}, [](Team& team) {
    const Extents size{8, 8, 8};
    Fields<double> fields(team, options_for(size, fft::Type::c2c));
    EXPECT_EQ(check(team, fields, Hole(size), fft::Scaling::none), std::numeric_limits<double>::infinity());
  });
}

TEST(Fields, AreRefusedWhereTheyDoNotFitBesideTheirPlan) {
  on_worlds({1, 2, 3}, [](Team& team) {
    fft::Options options = options_for({32, 32, 32}, fft::Type::c2c);
    options.batch = 3;
    const fft::MemoryNeed need = fft::memory_need<double>(team, options);
    options.memory_budget_bytes = gas::max_on_a_node(team, need.total_bytes() + 3 * need.field_bytes);
    EXPECT_NO_THROW(Fields<double>(team, options));
    options.memory_budget_bytes -= 1;
    EXPECT_TRUE(fails_with({"32x32x32 wants", "which has"}, [&] { Fields<double>(team, options); }));
  });
}

TEST(RoundTrips, AreTimedAsOftenAsAskedAndLeaveTheFields) {
  on_worlds({1, 2}, [](Team& team) {
    Fields<double> fields(team, options_for({8, 9, 10}, fft::Type::r2c));
    fields.fill(*make_noise({8, 9, 10}, fft::Type::r2c));
    const double before = fields.numbers(0).empty() ? 0 : fields.numbers(0)[0];
    const RoundTrips trips = time_round_trips(team, fields, fft::Scaling::none, 5);
    EXPECT_NEAR(fields.numbers(0).empty() ? 0 : fields.numbers(0)[0], before, 1e-13);
    for (const Times& times : {trips.forward, trips.backward}) {
      ASSERT_EQ(times.all_s.size(), 5U);
      EXPECT_GT(times.min_s(), 0);
      EXPECT_LE(times.min_s(), times.median_s());
      EXPECT_GT(times.best.total_s, 0);
      EXPECT_LE(times.best.total_s, times.median_s());
    }
  });
}

TEST(Times, HaveTheMedianInTheMiddle) {
  EXPECT_EQ((Times{{3, 1, 2}, {}}.median_s()), 2);
  EXPECT_EQ((Times{{4, 1, 2, 3}, {}}.median_s()), 2.5);
  EXPECT_EQ((Times{{4, 1, 2, 3}, {}}.min_s()), 1);
}

}  // namespace
}  // namespace penstock::field
