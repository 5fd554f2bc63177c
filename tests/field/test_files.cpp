// Fields read from and written to .npy files by several ranks.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/field/field.hpp"
#include "tests/fails_with.hpp"
#include "tests/field/shared_folder.hpp"
#include "tests/worlds.hpp"

namespace penstock::field {
namespace {

using gas::on_worlds;
using gas::Team;

/// The part of `size` points that falls to this rank where directions 1 and 2 are cut among the ranks, unevenly.
fft::Box part_of(const Team& team, const Extents& size, std::size_t direction) {
  fft::Box box{{0, 0, 0}, size};
  box.lower[direction] = size[direction] * team.rank() / team.size();
  box.extent[direction] = size[direction] * (team.rank() + 1) / team.size() - box.lower[direction];
  return box;
}

/// Number `component` of a point, which tells it from all others.
double number_of(const Extents& size, std::int64_t x, std::int64_t y, std::int64_t z, int component) {
  return static_cast<double>(2 * ((z * size[1] + y) * size[0] + x) + component);
}

/// Collective: a file with `number_of` everywhere.
template <class Real>
void write_file(const Team& team, const std::string& path, const Extents& size, npy::DataType type) {
  if (team.rank() == 0) {
    const int components = npy::is_complex(type) ? 2 : 1;
    std::vector<Real> numbers;
    for (std::int64_t z = 0; z < size[2]; ++z) {
      for (std::int64_t y = 0; y < size[1]; ++y) {
        for (std::int64_t x = 0; x < size[0]; ++x) {
          for (int c = 0; c < components; ++c) {
            numbers.push_back(static_cast<Real>(number_of(size, x, y, z, c)));
          }
        }
      }
    }
    auto writer = npy::Writer::create(path, type, std::array{size[2], size[1], size[0]});
    writer.write(0, std::as_bytes(std::span(numbers)));
    writer.commit();
  }
  team.barrier();
}

template <class Stored, class Real>
void expect_parts_of_file(npy::DataType type) {
  on_worlds({1, 2, 3, 4}, [&](Team& team) {
    const SharedFolder folder(team);
    const Extents size{5, 7, 6};
    write_file<Stored>(team, folder / "in.npy", size, type);
    const FileDescription facts = inspect_file(team, folder / "in.npy");
    EXPECT_EQ(facts.size, size);
    EXPECT_EQ(facts.data_type, type);
    const int components = npy::is_complex(type) ? 2 : 1;
    for (const std::size_t direction : {std::size_t{1}, std::size_t{2}}) {
      const fft::Box box = part_of(team, size, direction);
      std::vector<Real> numbers(static_cast<std::size_t>(box.count() * components));
      open_file(folder / "in.npy")->fill(box, 0, std::span(numbers));
      std::size_t i = 0;
      for (std::int64_t z = box.lower[2]; z < box.lower[2] + box.extent[2]; ++z) {
        for (std::int64_t y = box.lower[1]; y < box.lower[1] + box.extent[1]; ++y) {
          for (std::int64_t x = 0; x < size[0]; ++x) {
            for (int c = 0; c < components; ++c) {
              EXPECT_EQ(numbers[i++], static_cast<Real>(number_of(size, x, y, z, c)));
            }
          }
        }
      }
    }
  });
}

TEST(InputFile, GivesEachRankItsPart) {
  expect_parts_of_file<double, double>(npy::DataType::float64);
  expect_parts_of_file<float, float>(npy::DataType::complex64);
}

TEST(InputFile, ConvertsBetweenPrecisions) {
  expect_parts_of_file<float, double>(npy::DataType::float32);
  expect_parts_of_file<double, float>(npy::DataType::complex128);
}

TEST(InputFile, IsRefusedOnEveryRankWhereItIsNoField) {
  on_worlds({1, 3}, [&](Team& team) {
    const SharedFolder folder(team);
    if (team.rank() == 0) {
      npy::Writer::create(folder / "flat.npy", npy::DataType::float64, std::array<std::int64_t, 2>{4, 4}).commit();
      npy::Writer::create(folder / "empty.npy", npy::DataType::float64, std::array<std::int64_t, 3>{4, 0, 4}).commit();
    }
    team.barrier();
    EXPECT_TRUE(fails_with({"flat.npy", "2 dimensions"}, [&] { inspect_file(team, folder / "flat.npy"); }));
    EXPECT_TRUE(fails_with({"empty.npy", "no elements"}, [&] { inspect_file(team, folder / "empty.npy"); }));
    EXPECT_TRUE(fails_with({"missing.npy"}, [&] { inspect_file(team, folder / "missing.npy"); }));
  });
}

TEST(OutputFile, IsInCOrderWhateverTheOrderAndThePartsOfTheRanks) {
  on_worlds({1, 2, 3, 4}, [&](Team& team) {
    const SharedFolder folder(team);
    const Extents size{5, 70, 9};
    for (const std::array<int, 3> order : {std::array{0, 1, 2}, std::array{2, 1, 0}, std::array{1, 2, 0}}) {
      for (const std::size_t direction : {std::size_t{0}, std::size_t{1}}) {
        const Distribution part{part_of(team, size, direction), order};
        const auto& [lower, extent] = part.box;
        std::vector<std::complex<double>> elements(static_cast<std::size_t>(part.box.count()));
        for (std::int64_t z = lower[2]; z < lower[2] + extent[2]; ++z) {
          for (std::int64_t y = lower[1]; y < lower[1] + extent[1]; ++y) {
            for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
              elements[static_cast<std::size_t>(part.position(x, y, z))] = {number_of(size, x, y, z, 0),
                                                                            number_of(size, x, y, z, 1)};
            }
          }
        }
        OutputFile file(team, folder / "out.npy", npy::DataType::complex128, size);
        file.write(part, std::as_bytes(std::span<const std::complex<double>>(elements)));
        file.commit();
        const npy::Reader reader(folder / "out.npy");
        EXPECT_EQ(reader.header().shape, (std::vector<std::int64_t>{size[2], size[1], size[0]}));
        std::vector<double> all(static_cast<std::size_t>(2 * reader.header().elements()));
        reader.read(0, std::as_writable_bytes(std::span(all)));
        std::size_t mistakes = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
          mistakes += all[i] == static_cast<double>(i) ? 0 : 1;
        }
        EXPECT_EQ(mistakes, 0);
        team.barrier();
      }
    }
  });
}

TEST(OutputFile, LeavesNothingBehindWhenItIsNotCommitted) {
  on_worlds({1, 3}, [&](Team& team) {
    const SharedFolder folder(team);
    { const OutputFile file(team, folder / "out.npy", npy::DataType::float32, {4, 4, 4}); }
    team.barrier();
    EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
    EXPECT_TRUE(fails_with({"nowhere/out.npy"}, [&] {
      const OutputFile file(team, folder / "nowhere/out.npy", npy::DataType::float32, {4, 4, 4});
    }));
  });
}

}  // namespace
}  // namespace penstock::field
