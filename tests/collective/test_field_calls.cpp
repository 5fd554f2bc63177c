// What is done with distributed fields, with one bad rank.
#include <gtest/gtest.h>

#include <complex>
#include <filesystem>
#include <functional>
#include <vector>

#include "penstock/field/field.hpp"
#include "tests/collective/one_bad_rank.hpp"
#include "tests/field/shared_folder.hpp"

namespace penstock::field {
namespace {

using gas::Team;

fft::Options options_of(bool is_bad = false) {
  fft::Options options;
  options.size = {8, 9, is_bad ? 0 : 10};
  options.effort = fft::Effort::estimate;
  return options;
}

/// A source that cannot be read on the bad rank.
class Unreadable final : public Source {
 public:
  explicit Unreadable(bool is_bad) : is_bad_(is_bad) {}
  void fill(const fft::Box&, int, std::span<float>) const override { read(); }
  void fill(const fft::Box&, int, std::span<double>) const override { read(); }

 private:
  void read() const {
    if (is_bad_) {
      throw Error("the disk is gone");
    }
  }
  bool is_bad_;
};

/// Makes a call again and again, in which rank 1 throws where it waits.
void fail_midway(const Team& team, const std::function<void(Fields<double>&)>& call) {
  Fields<double> fields(team, options_of());
  Trap trap(team);
  for (int i = 0; i < 1000; ++i) {
    trap.set();
    call(fields);
  }
}

TEST(OneBadRank, FailsWhatIsDoneWithFieldsOnEveryRank) {
  const Case cases[] = {
      {"field::Fields::require_memory",
       [](const Team& team, bool is_bad) { Fields<double>::require_memory(team, options_of(is_bad)); }},
      {"field::Fields::needed_bytes",
       [](const Team& team, bool is_bad) { Fields<double>::needed_bytes(team, options_of(is_bad)); }},
      {"field::Fields::Fields", [](const Team& team, bool is_bad) { Fields<double>(team, options_of(is_bad)); }},
      {"field::Fields::fill",
       [](const Team& team, bool is_bad) { Fields<double>(team, options_of()).fill(Unreadable(is_bad)); }},
      {"field::Fields::forward, a handler throws midway",
       [](const Team& team, bool) { fail_midway(team, [](Fields<double>& fields) { fields.forward({}); }); }},
      {"field::Fields::backward, a handler throws midway",
       [](const Team& team, bool) { fail_midway(team, [](Fields<double>& fields) { fields.backward({}); }); }},
      {"field::time_round_trips",
       [](const Team& team, bool is_bad) {
         Fields<double> fields(team, options_of());
         time_round_trips(team, fields, fft::Scaling::none, is_bad ? 2 : 1);
       }},
      {"field::sum_shells, a short spectrum",
       [](const Team& team, bool is_bad) {
         const Fields<double> fields(team, options_of());
         const std::vector<std::complex<double>> modes(
             static_cast<std::size_t>(fields.plan().output().box.count() - (is_bad ? 1 : 0)));
         sum_shells<double>(team, options_of().size, fft::Type::c2c, fields.plan().output(), modes, fft::Scaling::none);
       }},
      {"field::sum_shells, another size",
       [](const Team& team, bool is_bad) {
         const Fields<double> fields(team, options_of());
         const std::vector<std::complex<double>> modes(static_cast<std::size_t>(fields.plan().output().box.count()));
         sum_shells<double>(team, {8, 9, is_bad ? 300 : 10}, fft::Type::c2c, fields.plan().output(), modes,
                            fft::Scaling::none);
       }},
      {"field::check, another scaling",
       [](const Team& team, bool is_bad) {
         Fields<double> fields(team, options_of());
         const auto noise = make_noise(options_of().size, fft::Type::c2c);
         check(team, fields, *noise, is_bad ? fft::Scaling::full : fft::Scaling::none);
       }},
      {"field::check, a source that throws",
       [](const Team& team, bool is_bad) {
         Fields<double> fields(team, options_of());
         check(team, fields, Unreadable(is_bad), fft::Scaling::none);
       }},
  };
  expect_all_ranks_throw(cases);
}

TEST(OneBadRank, FailsFilesOnEveryRank) {
  const Case cases[] = {
      {"field::inspect_file",
       [](const Team& team, bool is_bad) {
         const SharedFolder folder(team);
         OutputFile(team, folder / "field.npy", npy::DataType::float64, {2, 3, 4}).commit();
         inspect_file(team, folder / (is_bad ? "none.npy" : "field.npy"));
       }},
      {"field::OutputFile::OutputFile",
       [](const Team& team, bool is_bad) {
         const SharedFolder folder(team);
         OutputFile(team, folder / (is_bad ? "other.npy" : "field.npy"), npy::DataType::float64, {2, 3, 4});
       }},
      {"field::OutputFile::write",
       [](const Team& team, bool is_bad) {
         const SharedFolder folder(team);
         OutputFile file(team, folder / "field.npy", npy::DataType::float64, {2, 3, 3});
         const std::vector<std::byte> plane(48 - (is_bad ? 1 : 0));
         file.write({.box = {.lower = {0, 0, team.rank()}, .extent = {2, 3, 1}}}, plane);
       }},
      {"field::OutputFile::commit, its file is gone",
       [](const Team& team, bool is_bad) {
         const SharedFolder folder(team);
         OutputFile file(team, folder / "field.npy", npy::DataType::float64, {2, 3, 3});
         if (is_bad) {
           std::filesystem::remove_all(folder / "");
         }
         team.barrier();
         file.commit();
       }},
  };
  expect_all_ranks_throw(cases);
}

}  // namespace
}  // namespace penstock::field
