#include "penstock/model/htmt.hpp"

#include <algorithm>
#include <cmath>

#include "penstock/model/powers.hpp"

namespace penstock::model {
namespace {

/// 2 IP_DS + t^2 (2 t + 1) IP_SC: all percolation of one multiply of eq. 5.
double percolation_s(const Htmt& htmt) {
  const HtmtTimes times = htmt_times(htmt);
  return 2 * times.dram_to_sram_s + htmt.t * htmt.t * (2 * htmt.t + 1) * times.sram_to_cram_s;
}

}  // namespace

HtmtTimes htmt_times(const Htmt& htmt) noexcept {
  const double block = htmt.t * htmt.b_c * htmt.t * htmt.b_c;
  const double sub_block = htmt.b_c * htmt.b_c;
  return {.transformation_s = 2 * block * (htmt.s + 1) * htmt.dram_word_s,
          .multiply_s = 2 * cubed(htmt.b_c) * htmt.fpu_cycle_s / htmt.fpus_per_spell,
          .shift_s = sub_block / htmt.cnet_words_per_s,
          .sram_to_cram_s = sub_block * htmt.sram_word_s,
          .dram_to_sram_s = block * htmt.dram_word_s};
}

double htmt_equation_4_s(const Htmt& htmt) noexcept {
  const HtmtTimes times = htmt_times(htmt);
  const double multiplies_s =
      cubed(htmt.t) * (2 * times.sram_to_cram_s + htmt.s * std::max(times.multiply_s, times.shift_s));
  return 3 * times.transformation_s +
         cubed(htmt.q) * (2 * times.dram_to_sram_s + htmt.t * times.sram_to_cram_s + multiplies_s);
}

double htmt_equation_5_s(const Htmt& htmt) noexcept {
  const HtmtTimes times = htmt_times(htmt);
  return 3 * times.transformation_s + cubed(htmt.q) * (cubed(htmt.t) * htmt.s * times.multiply_s + percolation_s(htmt));
}

double htmt_equation_6_s(const Htmt& htmt) noexcept {
  return 2.8e9 * htmt.dram_word_s + cubed(htmt.q) * (0.88e12 * htmt.fpu_cycle_s + 0.024);
}

double htmt_printed_rate_s(const Htmt& htmt) noexcept {
  return 4.12e9 * htmt.dram_word_s + cubed(htmt.q) * (0.88e12 * htmt.fpu_cycle_s + 0.024);
}

double htmt_headline_s(const Htmt& htmt) noexcept {
  return 2.8e9 * htmt.dram_word_s + cubed(htmt.q) * (0.88e12 * htmt.fpu_cycle_s + percolation_s(htmt));
}

double htmt_largest_sub_block(double words) noexcept {
  return std::floor(std::sqrt(words / 7));
}

}  // namespace penstock::model
