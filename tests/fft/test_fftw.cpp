// FFTW as a local transform.
#include <fftw3.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "tests/fft/reference.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

Options fftw_options(const Extents& size) {
  Options options;
  options.size = size;
  options.local = "fftw";
  return options;
}

TEST(Fftw, AgreesWithTheDefinition) {
  gas::on_worlds({1, 2, 3}, [](gas::Team& team) {
    for (const Type type : {Type::c2c, Type::r2c, Type::r2r}) {
      for (const Effort effort : {Effort::estimate, Effort::measure}) {
        Options options = fftw_options({24, 13, 10});
        options.type = type;
        options.effort = effort;
        options.threads = 2;
        EXPECT_LE(worst_error<double>(team, options, Scaling::symmetric, true), tolerance<double>(options.size));
        EXPECT_LE(worst_error<float>(team, options), tolerance<float>(options.size));
      }
    }
    for (int kind = 0; kind < 8; ++kind) {
      Options options = fftw_options({7, 12, 9});
      options.type = Type::r2r;
      options.kinds = {static_cast<RealKind>(kind), static_cast<RealKind>((kind + 3) % 8), RealKind::redft00};
      EXPECT_LE(worst_error<double>(team, options), tolerance<double>(options.size)) << kind;
    }
    EXPECT_EQ(Plan<double>(team, fftw_options({8, 8, 8})).decision().local, "fftw");
  });
}

// FFTW's planner is the process's: a program that plans with threads of FFTW's must not give them to our tiles, and
// must find its setting as it left it.
TEST(Fftw, LeavesTheProgramsOwnSettingOfThreadsAlone) {
  gas::on_worlds({1}, [](gas::Team& team) {
    fftw_init_threads();
    fftw_plan_with_nthreads(3);
    const Plan<double> plan(team, fftw_options({8, 8, 8}));
    EXPECT_EQ(fftw_planner_nthreads(), 3);
    fftw_plan_with_nthreads(1);
  });
}

TEST(Fftw, HasWisdomOfBothPrecisionsOrNone) {
  gas::on_worlds({1}, [](gas::Team& team) {
    Options options = fftw_options({8, 8, 8});
    options.effort = Effort::measure;
    const Plan<double> plan(team, options);
    Wisdom wisdom;
    const std::string text = wisdom.text();
    EXPECT_NE(text.find("fftw_wisdom"), std::string::npos);
    EXPECT_TRUE(wisdom.read(text));
    // Damaged in single precision alone: what was read for double is forgotten again.
    fftw_forget_wisdom();
    const std::string none = wisdom.text();
    EXPECT_FALSE(wisdom.read(text.substr(0, text.rfind("fftwf_wisdom")) + "none\n"));
    EXPECT_EQ(wisdom.text(), none);
    EXPECT_TRUE(wisdom.read(text));
    EXPECT_FALSE(wisdom.read(text.substr(0, text.find("fftw_wisdom") + 20) + "\n"));
  });
}

}  // namespace
}  // namespace penstock::fft
