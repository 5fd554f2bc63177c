// Checks that pass on right transforms and fail on wrong ones, refusals of memory, and times.
#include <gtest/gtest.h>

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
  for (const Reference reference : {Reference::automatic, Reference::fftw, Reference::waves}) {
    const Check found = check(team, fields, *noise, scaling, reference);
    EXPECT_EQ(found.reference, reference == Reference::waves ? reference : Reference::fftw);
    EXPECT_LE(found.relative_error, tolerance<Real>(options.size));
    EXPECT_GT(found.relative_error, 0);
  }
}

TEST(Check, PassesWithEitherReferenceOnUnevenSizes) {
  on_worlds({1, 2, 3, 4}, [](Team& team) {
    for (const Extents& size : {Extents{24, 25, 18}, Extents{13, 11, 7}, Extents{5, 3, 2}, Extents{1, 16, 32}}) {
      for (const fft::Type type : {fft::Type::c2c, fft::Type::r2c}) {
        expect_passes<double>(team, options_for(size, type), fft::Scaling::none);
        expect_passes<float>(team, options_for(size, type), fft::Scaling::symmetric);
      }
    }
  });
}

TEST(Check, IsBesideFftwAloneForSinesAndCosinesAndSomeDirections) {
  on_worlds({1, 3}, [](Team& team) {
    fft::Options all = options_for({13, 11, 8}, fft::Type::r2r);
    all.kinds = {fft::RealKind::redft00, fft::RealKind::rodft10, fft::RealKind::redft11};
    fft::Options some = options_for({13, 11, 8}, fft::Type::r2c);
    some.along = {false, true, true};
    for (fft::Options options : {all, some}) {
      Fields<double> fields(team, options);
      const auto noise = make_noise(options.size, options.type);
      const Check found = check(team, fields, *noise, fft::Scaling::symmetric);
      EXPECT_EQ(found.reference, Reference::fftw);
      EXPECT_LE(found.relative_error, tolerance<double>(options.size));
      EXPECT_GT(found.relative_error, 0);
      EXPECT_TRUE(fails_with({"no check of this transform by plane waves"},
                             [&] { check(team, fields, *noise, fft::Scaling::symmetric, Reference::waves); }));
      EXPECT_TRUE(fails_with({"plane waves check the types c2c and r2c along all directions only"},
                             [&] { check(team, fields, *noise, fft::Scaling::symmetric, Reference::automatic, 1); }));
    }
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
    for (const Reference reference : {Reference::fftw, Reference::waves}) {
      const ForgetfulNoise source(size);
      std::vector<double> numbers(1024);
      source.fill({{0, 0, 0}, size}, 0, std::span(numbers));
      EXPECT_LE(check(team, fields, source, fft::Scaling::none, reference).relative_error, tolerance<double>(size));
      const ForgetfulNoise forgetful(size);
      EXPECT_GT(check(team, fields, forgetful, fft::Scaling::none, reference).relative_error, tolerance<double>(size));
    }
  });
}

TEST(Check, TakesWavesWhereTheReferenceDoesNotFit) {
  on_worlds({1, 2}, [](Team& team) {
    const Extents size{32, 32, 32};
    Fields<double> fields(team, options_for(size, fft::Type::c2c));
    const auto noise = make_noise(size, fft::Type::c2c);
    EXPECT_EQ(check(team, fields, *noise, fft::Scaling::none, Reference::automatic, 1000).reference, Reference::waves);
    EXPECT_TRUE(
        fails_with({"plane waves"}, [&] { check(team, fields, *noise, fft::Scaling::none, Reference::fftw, 1000); }));
  });
}

TEST(Fields, AreRefusedWhereTheyDoNotFitBesideTheirPlan) {
  on_worlds({1, 2, 3}, [](Team& team) {
    fft::Options options = options_for({32, 32, 32}, fft::Type::c2c);
    options.batch = 3;
    std::uint64_t plans = 0;
    for (const std::uint64_t bytes : team.all_gather(fft::memory_need<double>(team, options).total_bytes())) {
      plans += bytes;
    }
    options.memory_budget_bytes = plans + 3 * 32 * 32 * 32 * 16;
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
