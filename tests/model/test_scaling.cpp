// The laws of scaling: the values of the lecture, their limits, and fits that find what synthetic points were made of.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "penstock/model/least_squares.hpp"
#include "penstock/model/model.hpp"
#include "tests/fails_with.hpp"

namespace penstock::model {
namespace {

/// The program of the lecture's comparison (slide 162).
Scaling lecture(Communication communication, double alpha) {
  return {.serial = 0.05, .alpha = alpha, .communication = communication, .kappa = 0.005, .lambda = 0.001};
}

TEST(Scaling, HasTheValuesOfTheLecture) {
  EXPECT_NEAR(speedup({.serial = 0.168}, 12), 4.213, 5e-4);
  EXPECT_NEAR(speedup({.serial = 0.086}, 12), 6.166, 5e-4);
  EXPECT_NEAR(speedup({.serial = 0.05}, 1000), 19.63, 5e-3);
  EXPECT_NEAR(speedup(lecture(Communication::blocking, 0), 1000), 0.165, 5e-4);
  EXPECT_NEAR(best_blocking_workers(lecture(Communication::blocking, 0)), 12.6, 0.05);
  EXPECT_NEAR(speedup(lecture(Communication::blocking, 0), 12.58), 4.975, 5e-4);
  EXPECT_NEAR(speedup(lecture(Communication::constant, 0), 1000), 17.56, 5e-3);
  EXPECT_NEAR(speedup(lecture(Communication::surface, 0), 1000), 19.23, 5e-3);
  EXPECT_NEAR(speedup(lecture(Communication::surface, 1), 1000), 944.4, 0.05);
  EXPECT_DOUBLE_EQ(crossover_workers(0.05), 19);
  EXPECT_NEAR(efficiency({.serial = 0.05}, 19), 0.526, 5e-4);
}

TEST(Scaling, OfAGrowingProblemIsEfficientByTheNotionOfWork) {
  const Scaling mostly_serial{.serial = 0.9, .alpha = 1};
  EXPECT_NEAR(efficiency(mostly_serial, 1e9), 0.1, 1e-8);
  EXPECT_DOUBLE_EQ(efficiency(mostly_serial, 1e9, Work::parallel), 1);
}

TEST(Scaling, HasItsLimits) {
  for (const double workers : {1.0, 2.0, 7.0, 1e6}) {
    EXPECT_NEAR(speedup({.serial = 0}, workers), workers, 1e-9 * workers) << "nothing serial";
    EXPECT_NEAR(speedup({.serial = 1}, workers), 1, 1e-12) << "all serial";
    const Scaling gustafson{.serial = 0.3, .alpha = 1};
    EXPECT_NEAR(speedup(gustafson, workers), 0.3 + 0.7 * workers, 1e-9 * workers);
    for (const Communication communication :
         {Communication::blocking, Communication::constant, Communication::surface}) {
      Scaling free = lecture(communication, 0);
      free.kappa = free.lambda = 0;
      EXPECT_EQ(speedup(free, workers), speedup({.serial = 0.05}, workers)) << "communication for nothing";
    }
  }
  EXPECT_NEAR(speedup({.serial = 0.05}, 1e12), 20, 1e-9);
  EXPECT_NEAR(speedup(lecture(Communication::constant, 0), 1e12), 1 / 0.056, 1e-6);
  EXPECT_NEAR(speedup(lecture(Communication::surface, 0), 1e15), 1 / 0.051, 1e-6);
  EXPECT_NEAR(speedup(lecture(Communication::blocking, 0), 1e9) * 0.006 * 1e9, 1, 1e-6);
}

TEST(Scaling, OnOneWorkerIsOneWhateverTheProgram) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> part(0, 1);
  for (int i = 0; i < 200; ++i) {
    const Scaling scaling{.serial = part(random), .alpha = part(random)};
    EXPECT_NEAR(speedup(scaling, 1), 1, 1e-12);
    EXPECT_NEAR(efficiency(scaling, 1, Work::parallel), 1, 1e-12);
    const double workers = 1 + 1000 * part(random);
    EXPECT_GE(speedup(scaling, workers * 1.1), speedup(scaling, workers)) << "more workers";
    Scaling more_serial = scaling;
    more_serial.serial += 0.1 * (1 - scaling.serial);
    EXPECT_LE(speedup(more_serial, workers), speedup(scaling, workers)) << "more of it serial";
    EXPECT_LE(efficiency(scaling, workers), 1 + 1e-12);
  }
}

TEST(Scaling, CrossesOverWhereBothPartsAreWorthSpeedingUpAlike) {
  const double serial = 0.05;
  for (const double factor : {1.5, 2.0, 10.0}) {
    const auto gain = [&](double workers) {
      const double faster_serial = 1 / (serial / factor + (1 - serial) / workers);
      const double faster_parallel = 1 / (serial + (1 - serial) / (factor * workers));
      return faster_serial / faster_parallel;
    };
    EXPECT_NEAR(gain(crossover_workers(serial)), 1, 1e-12);
    EXPECT_GT(gain(crossover_workers(serial) + 1), 1);
    EXPECT_LT(gain(crossover_workers(serial) - 1), 1);
  }
}

TEST(StudentQuantile, IsThatOfTheTables) {
  EXPECT_NEAR(student_quantile(0.95, 1), 12.706, 5e-4);
  EXPECT_NEAR(student_quantile(0.95, 2), 4.303, 5e-4);
  EXPECT_NEAR(student_quantile(0.95, 3), 3.182, 5e-4);
  EXPECT_NEAR(student_quantile(0.99, 7), 3.499, 5e-4);
  EXPECT_NEAR(student_quantile(0.95, 30), 2.042, 5e-4);
  EXPECT_NEAR(student_quantile(0.95, 100000), 1.960, 5e-4);
}

/// Points of a program on 1 to 1,024 workers, three of each, their relative errors normal with the deviation given.
std::vector<MeasuredSpeedup> points_of(const Scaling& scaling, double deviation, std::mt19937& random) {
  std::normal_distribution<double> error(0, 1);
  std::vector<MeasuredSpeedup> points;
  for (double workers = 1; workers <= 1024; workers *= 2) {
    for (int repetition = 0; repetition < 3; ++repetition) {
      points.push_back({workers, speedup(scaling, workers) * std::exp(deviation * error(random))});
    }
  }
  return points;
}

struct Recovered {
  int within_95 = 0;
  int within_99_99 = 0;
  int parameters = 0;

  void count(const Estimate& narrow, const Estimate& wide, double truth) {
    within_95 += narrow.low <= truth && truth <= narrow.high;
    within_99_99 += wide.low <= truth && truth <= wide.high;
    ++parameters;
  }
};

TEST(ScalingFit, RecoversTheParametersOfRandomProgramsWithinTheirIntervals) {
  const unsigned seed = 20260714;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> logarithm(std::log(1e-3), std::log(0.3));
  Recovered recovered;
  for (int i = 0; i < 1000; ++i) {
    const auto communication = static_cast<Communication>(i % 4);
    Scaling scaling{.serial = std::exp(logarithm(random)),
                    .alpha = i % 8 < 4 ? 0 : 0.5,
                    .communication = communication,
                    .kappa = 0.1 * std::exp(logarithm(random)),
                    .lambda = 0.1 * std::exp(logarithm(random))};
    if (communication == Communication::none) {
      scaling.kappa = scaling.lambda = 0;
    }
    const std::vector<MeasuredSpeedup> points = points_of(scaling, 0.01, random);
    const ScalingFit narrow = fit_scaling(points, scaling, 0.95);
    const ScalingFit wide = fit_scaling(points, scaling, 0.9999);
    recovered.count(narrow.serial, wide.serial, scaling.serial);
    if (narrow.kappa) {
      recovered.count(*narrow.kappa, *wide.kappa, scaling.kappa);
      recovered.count(*narrow.lambda, *wide.lambda, scaling.lambda);
    }
    if (narrow.kappa_plus_lambda) {
      recovered.count(*narrow.kappa_plus_lambda, *wide.kappa_plus_lambda, scaling.kappa + scaling.lambda);
    }
    EXPECT_NEAR(narrow.relative_error, 0.01, 0.005);
  }
  EXPECT_EQ(recovered.parameters, 2000) << "1 in 250 cases, 2 in 500, 3 in 250";
  EXPECT_NEAR(recovered.within_95 / 2000.0, 0.95, 0.02) << "seed " << seed;
  EXPECT_GE(recovered.within_99_99, 1998) << "seed " << seed;
}

TEST(ScalingFit, OfExactPointsIsExact) {
  std::mt19937 random(2);
  for (const Communication communication : {Communication::none, Communication::constant, Communication::surface}) {
    const Scaling scaling = lecture(communication, 0);
    const ScalingFit fit = fit_scaling(points_of(scaling, 0, random), scaling);
    EXPECT_NEAR(fit.serial.value, communication == Communication::none ? 0.05 : scaling.serial, 1e-9);
    EXPECT_LT(fit.relative_error, 1e-9);
  }
}

TEST(ScalingFit, RefusesWhatItCannotFit) {
  const Scaling form{.communication = Communication::surface};
  const std::vector<MeasuredSpeedup> few{{1, 1}, {2, 1.9}, {4, 3}};
  EXPECT_TRUE(fails_with({"3 parameters needs 4", "there are 3"}, [&] { fit_scaling(few, form); }));
  const std::vector<MeasuredSpeedup> same(5, {8, 4});
  EXPECT_TRUE(fails_with({"leave a parameter open"}, [&] { fit_scaling(same, form); }));
  const std::vector<MeasuredSpeedup> wrong{{1, 1}, {2, -1}, {4, 3}};
  EXPECT_TRUE(fails_with({"speedup of -1 with 2 workers"}, [&] { fit_scaling(wrong, {}); }));
}

}  // namespace
}  // namespace penstock::model
