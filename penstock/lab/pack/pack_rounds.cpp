#include "penstock/lab/pack/pack_rounds.hpp"

#include <algorithm>

#include "penstock/base/base.hpp"

namespace penstock::lab {
namespace {

using Contender = void (Contenders::*)(std::byte*, std::byte*) const;

/// Runs the contenders in turn, each a batch of uses at a time.
class Rounds {
 public:
  Rounds(const Contenders& contenders, const PackPlaces& places, std::byte* array, std::byte* packed)
      : contenders_(contenders), places_(places), array_(array), packed_(packed) {}

  void run(int rounds, double max_s, PackSamples& samples) {
    while (contenders_.mover().is_trying()) {
      time_batch(0, 1);
    }
    std::array<std::int64_t, 4> uses{};
    for (std::size_t i = 0; i < uses.size(); ++i) {
      uses[i] = uses_of_batch(i);
    }
    const double begin_s = seconds();
    // In every order by turns: what one leaves behind, such as lines to be written back, falls to the next.
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    for (int round = 0; round < rounds && (round == 0 || seconds() - begin_s < max_s); ++round) {
      std::next_permutation(order.begin(), order.end());
      for (const std::size_t i : order) {
        samples[i].push_back(time_batch(i, uses[i]) / static_cast<double>(uses[i]));
      }
    }
  }

 private:
  /// So many that a batch takes long beside the clock's 25 ns.
  std::int64_t uses_of_batch(std::size_t contender) {
    constexpr double min_s = 20e-6;
    std::int64_t uses = 1;
    while (time_batch(contender, uses) < min_s && uses < (1 << 20)) {
      uses *= 2;
    }
    return uses;
  }

  double time_batch(std::size_t contender, std::int64_t uses) {
    switch (contender) {
      case 0:
        return time_uses<&Contenders::ours>(uses);
      case 1:
        return time_uses<&Contenders::mpi>(uses);
      case 2:
        return time_uses<&Contenders::hand>(uses);
      default:
        return time_uses<&Contenders::copy, true>(uses);
    }
  }

  // Where arrays overlap in lines that the type leaves out, memcpy must not find them in cache: it goes where packed
  // messages go.
  template <Contender contender, bool is_copy = false>
  double time_uses(std::int64_t uses) {
    const double begin_s = seconds();
    for (std::int64_t use = 0; use < uses; ++use) {
      const std::int64_t packed = places_.packed[next_packed_];
      const std::int64_t array = is_copy ? packed : places_.array[next_array_];
      (contenders_.*contender)(array_ + array, packed_ + packed);
      next_array_ = next_array_ + 1 == places_.array.size() ? 0 : next_array_ + 1;
      next_packed_ = next_packed_ + 1 == places_.packed.size() ? 0 : next_packed_ + 1;
    }
    return seconds() - begin_s;
  }

  const Contenders& contenders_;
  const PackPlaces& places_;
  std::byte* array_;
  std::byte* packed_;
  std::size_t next_array_ = 0;
  std::size_t next_packed_ = 0;
};

}  // namespace

void run_rounds(const Contenders& contenders, const PackPlaces& places, std::byte* array, std::byte* packed, int rounds,
                double max_s, PackSamples& samples) {
  Rounds(contenders, places, array, packed).run(rounds, max_s, samples);
}

}  // namespace penstock::lab
