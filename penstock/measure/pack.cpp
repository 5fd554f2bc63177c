#include "penstock/measure/pack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <regex>

#include "penstock/base/base.hpp"
#include "penstock/datatype/datatype.hpp"
#include "penstock/measure/pack_cases.hpp"
#include "penstock/measure/pack_costs.hpp"
#include "penstock/measure/pack_hand.hpp"
#include "penstock/measure/pack_memory.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::measure {
namespace {

using layout::Layout;
using mover::Mover;

/// A case ready to run: the type committed, the movers compiled, the loops chosen.
struct Prepared {
  const PackCase& description;
  Type type;
  Layout typed;  ///< relative to the buffer that MPI is given
  std::int64_t bytes;
  std::vector<HandCode> hand;
};

Prepared prepare(const PackCase& description) {
  Type type = description.make_type();
  type.commit();
  Layout typed = datatype::describe(type.get()).of(1);
  const std::int64_t bytes = type.bytes();
  std::vector<HandCode> hand;
  for (const HandLoop& loop : description.hand) {
    hand.push_back(hand_code(loop));
  }
  return {description, std::move(type), std::move(typed), bytes, std::move(hand)};
}

mover::Hint hint_for(PackRegime regime, std::int64_t bytes) {
  // Below this a fence after stores that bypass the cache costs more than they save.
  constexpr std::int64_t streaming_from = std::int64_t{32} << 10;
  return regime == PackRegime::cold && bytes >= streaming_from ? mover::Hint::streaming : mover::Hint::reuse;
}

/// The four contenders for one operation: each moves between an array and a packed message.
class Contenders {
 public:
  Contenders(const Prepared& prepared, PackRegime regime, PackOperation operation)
      : prepared_(prepared), is_pack_(operation == PackOperation::pack), hint_(hint_for(regime, prepared.bytes)) {
    const Layout packed = Layout::contiguous(prepared.bytes);
    mover_ = is_pack_ ? Mover::compile(prepared.typed, packed, hint_, mover::Code::at_once)
                      : Mover::compile(packed, prepared.typed, hint_, mover::Code::at_once);
  }

  void ours(std::byte* array, std::byte* packed) const {
    std::byte* typed = array + prepared_.description.offset;
    mover_(is_pack_ ? typed : packed, is_pack_ ? packed : typed);
    if (hint_ == mover::Hint::streaming) {
      mover::finish_streaming();
    }
  }

  void mpi(std::byte* array, std::byte* packed) const {
    const auto bytes = static_cast<int>(prepared_.bytes);
    std::byte* typed = array + prepared_.description.offset;
    int position = 0;
    if (is_pack_) {
      MPI_Pack(typed, 1, prepared_.type.get(), packed, bytes, &position, MPI_COMM_SELF);
    } else {
      MPI_Unpack(packed, bytes, &position, typed, 1, prepared_.type.get(), MPI_COMM_SELF);
    }
  }

  void hand(std::byte* array, std::byte* packed) const {
    const std::vector<HandLoop>& loops = prepared_.description.hand;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (is_pack_) {
        prepared_.hand[i].pack(loops[i], array + loops[i].array_offset, packed + loops[i].packed_offset);
      } else {
        prepared_.hand[i].unpack(loops[i], packed + loops[i].packed_offset, array + loops[i].array_offset);
      }
    }
  }

  void copy(std::byte* array, std::byte* packed) const {
    std::memcpy(is_pack_ ? packed : array, is_pack_ ? array : packed, static_cast<std::size_t>(prepared_.bytes));
  }

  const Mover& mover() const { return mover_; }

 private:
  const Prepared& prepared_;
  bool is_pack_;
  mover::Hint hint_;
  Mover mover_;
};

using Contender = void (Contenders::*)(std::byte*, std::byte*) const;

[[noreturn]] void refuse(const PackCase& description, const char* who, const char* call) {
  throw Error(fmt::format("case {}: {} does not move the bytes that {} moves", description.name, who, call));
}

/// Throws where a contender's bytes are not those of MPI, in the message or around it.
void verify(const Prepared& prepared, const Contenders& contenders, PackOperation operation, std::byte* array,
            std::byte* packed) {
  const auto packed_bytes = static_cast<std::size_t>(prepared.bytes);
  const auto array_bytes = static_cast<std::size_t>(prepared.description.array_bytes);
  const bool is_pack = operation == PackOperation::pack;
  std::byte* target = is_pack ? packed : array;
  const std::size_t target_bytes = is_pack ? packed_bytes : array_bytes;
  const std::vector<std::byte> before(target, target + target_bytes);
  contenders.mpi(array, packed);
  const std::vector<std::byte> expected(target, target + target_bytes);
  for (const auto& [who, move] :
       {std::pair{"the mover", &Contenders::ours}, {"the hand-written loop", &Contenders::hand}}) {
    std::copy(before.begin(), before.end(), target);
    (contenders.*move)(array, packed);
    if (!std::equal(expected.begin(), expected.end(), target)) {
      refuse(prepared.description, who, is_pack ? "MPI_Pack" : "MPI_Unpack");
    }
  }
  std::copy(before.begin(), before.end(), target);
}

/// The places that uses take in turn.
struct Places {
  std::vector<std::int64_t> array{0};
  std::vector<std::int64_t> packed{0};
};

/// Runs the contenders in turn, each a batch of uses at a time.
class Rounds {
 public:
  Rounds(const Contenders& contenders, const Places& places, std::byte* array, std::byte* packed)
      : contenders_(contenders), places_(places), array_(array), packed_(packed) {}

  /// Seconds of one use of each, over the rounds; and how many rounds there were.
  std::array<PackTimes, 4> run(int rounds, double most_s, int& done) {
    std::array<std::int64_t, 4> uses{};
    for (std::size_t i = 0; i < 4; ++i) {
      uses[i] = uses_of_batch(i);
    }
    std::array<std::vector<double>, 4> times;
    const double begin_s = seconds();
    for (done = 0; done < rounds && (done < 3 || seconds() - begin_s < most_s); ++done) {
      for (std::size_t i = 0; i < 4; ++i) {
        times[i].push_back(time_batch(i, uses[i]) / static_cast<double>(uses[i]));
      }
    }
    std::array<PackTimes, 4> result;
    for (std::size_t i = 0; i < 4; ++i) {
      std::sort(times[i].begin(), times[i].end());
      result[i] = {times[i].front(), times[i][times[i].size() / 2]};
    }
    return result;
  }

 private:
  /// So many that a batch takes long beside the clock's 25 ns.
  std::int64_t uses_of_batch(std::size_t contender) {
    constexpr double least_s = 20e-6;
    std::int64_t uses = 1;
    while (time_batch(contender, uses) < least_s && uses < (1 << 20)) {
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
        return time_uses<&Contenders::copy>(uses);
    }
  }

  template <Contender contender>
  double time_uses(std::int64_t uses) {
    const double begin_s = seconds();
    for (std::int64_t use = 0; use < uses; ++use) {
      (contenders_.*contender)(array_ + places_.array[next_array_], packed_ + places_.packed[next_packed_]);
      next_array_ = next_array_ + 1 == places_.array.size() ? 0 : next_array_ + 1;
      next_packed_ = next_packed_ + 1 == places_.packed.size() ? 0 : next_packed_ + 1;
    }
    return seconds() - begin_s;
  }

  const Contenders& contenders_;
  const Places& places_;
  std::byte* array_;
  std::byte* packed_;
  std::size_t next_array_ = 0;
  std::size_t next_packed_ = 0;
};

std::vector<PackCase> chosen_cases(const std::string& filter) {
  std::vector<PackCase> cases = pack_cases();
  try {
    const std::regex pattern(filter);
    std::erase_if(cases, [&](const PackCase& each) { return !std::regex_search(each.name, pattern); });
  } catch (const std::regex_error&) {
    throw Error(fmt::format("the filter '{}' is no regular expression", filter));
  }
  if (cases.empty()) {
    throw Error(fmt::format("the filter '{}' leaves none of the cases, whose names are such as {}", filter,
                            pack_cases().front().name));
  }
  return cases;
}

std::size_t arena_bytes(const std::vector<PackCase>& cases, const PackOptions& options) {
  std::int64_t bytes = 0;
  for (const PackCase& each : cases) {
    bytes = std::max(bytes, each.array_bytes);
    for (const HandLoop& loop : each.hand) {
      bytes = std::max(bytes, loop.packed_offset + packed_bytes(loop));
    }
  }
  const bool is_cold =
      std::find(options.regimes.begin(), options.regimes.end(), PackRegime::cold) != options.regimes.end();
  return static_cast<std::size_t>(is_cold ? std::max(bytes, cold_arena_bytes) : bytes);
}

}  // namespace

PackReport measure_packing(const PackOptions& options) {
  const std::vector<PackCase> cases = chosen_cases(options.filter);
  const std::size_t bytes = arena_bytes(cases, options);
  options.progress("making memory");
  const Arena array(bytes);
  const Arena packed(bytes);
  PackReport report;
  for (const PackCase& each : cases) {
    const Prepared prepared = prepare(each);
    Places cold;
    if (bytes >= static_cast<std::size_t>(cold_arena_bytes)) {
      cold.array = cold_places(prepared.typed.displaced(each.offset), each.array_bytes, array.size());
      cold.packed = cold_places(Layout::contiguous(prepared.bytes), prepared.bytes, packed.size());
    }
    for (const PackOperation operation : options.operations) {
      if (operation == PackOperation::unpack && each.is_overlapping) {
        report.not_unpacked.push_back(each.name);
        continue;
      }
      const char* verb = operation == PackOperation::pack ? "pack" : "unpack";
      const PackCosts costs = measure_costs(each, operation, array.data(), packed.data());
      for (const PackRegime regime : options.regimes) {
        options.progress(fmt::format("{} {} {}", regime == PackRegime::hot ? "hot" : "cold", verb, each.name));
        const Contenders contenders(prepared, regime, operation);
        verify(prepared, contenders, operation, array.data(), packed.data());
        PackResult result{.name = each.name, .group = each.group, .regime = regime, .operation = operation};
        result.bytes = prepared.bytes;
        result.costs = costs;
        result.mover = contenders.mover().describe();
        const Places hot;
        Rounds rounds(contenders, regime == PackRegime::hot ? hot : cold, array.data(), packed.data());
        const auto times = rounds.run(options.rounds, options.case_s, result.rounds);
        result.ours = times[0];
        result.mpi = times[1];
        result.hand = times[2];
        result.copy = times[3];
        report.results.push_back(std::move(result));
      }
    }
  }
  return report;
}

std::string hand_loops_set() {
  return hand_instruction_set();
}

}  // namespace penstock::measure
