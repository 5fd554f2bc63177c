// The figures of seed 4: Amaral et al., "Performance Prediction for the HTMT", section 5.
#include <cmath>

#include "penstock/lab/reproductions/subjects.hpp"
#include "penstock/model/model.hpp"

namespace penstock::lab {
namespace {

double pflops(const model::Htmt& htmt, double time_s) {
  return htmt.flops() / time_s / 1e15;
}

}  // namespace

Reproduction reproduce_htmt() {
  Reproduction found{.name = "htmt", .source = "Amaral et al. (seed 4), section 5", .statements = {}, .curves = {}};
  const auto add = [&](std::string what, std::string unit, std::optional<double> theirs, double ours,
                       double tolerance = 0.01, std::string note = "") {
    found.statements.push_back({std::move(what), std::move(unit), theirs, ours, tolerance, std::move(note)});
  };
  const model::Htmt htmt;
  const model::HtmtTimes times = model::htmt_times(htmt);
  const double sub_block = htmt.b_c * htmt.b_c;
  add("edge of the matrices, M = t s b_c", "words", 208000, htmt.edge(), 0);
  add("b_c of which 7 b_c^2 words fit into 1 MiB less 180 KB (section 5)", "", 125,
      model::htmt_largest_sub_block((1048576 - 184320) / 8.0), 0,
      "7 x 125^2 = 109,375 words are more than the 108,032 left");
  add("t of which 3 (t b_c)^2 words fit into SRAM less 4 MB", "", 26,
      std::floor(std::sqrt((32.0 * 1048576 - 524288) / 3) / htmt.b_c), 0);
  add("Table 1: data transformation, 2 t^2 b_c^2 (s + 1)", "word accesses", std::nullopt,
      2 * htmt.t * htmt.t * sub_block * (htmt.s + 1), 0.01, "a formula, without a number");
  add("Table 1: DRAM to SRAM, t^2 b_c^2", "words", std::nullopt, htmt.t * htmt.t * sub_block, 0.01, "the same");
  add("Table 1: SRAM to CRAM and shifts, b_c^2", "words", std::nullopt, sub_block, 0.01, "the same");
  add("Table 1: multiply of sub-blocks, 2 b_c^3", "flops", std::nullopt, 2 * sub_block * htmt.b_c, 0.01, "the same");
  add("Table 2: DRAM access, (7 / 16) / 450 MHz (eq. 3)", "ns/word", 0.97, 7.0 / 16 / 450e6 * 1e9);
  add("Table 3: D_t", "s", 1.33, times.transformation_s);
  add("Table 3: M_S", "us", 11.7, times.multiply_s * 1e6);
  add("Table 3: D_S", "s", 0.94, times.shift_s, 0.01, "the table prints seconds where 0.94 us follow");
  add("Table 3: D_S, its unit set right", "us", 0.94, times.shift_s * 1e6);
  add("Table 3: IP_SC", "us", 6.6, times.sram_to_cram_s * 1e6);
  add("Table 3: IP_DS", "ms", 10.3, times.dram_to_sram_s * 1e3);
  add("peak of 4096 SPELLs", "PFlop/s", std::nullopt, htmt.peak_flops() / 1e15, 0.01, "not printed");
  add("eq. 4 with its t OP_CS", "s", std::nullopt, model::htmt_equation_4_s(htmt), 0.01,
      "not printed; eq. 5 needs t^2 OP_CS there");
  const std::string headline =
      "16.2 s and 1.1 PFLOPS follow from neither equation, but from 2.8e9 DRAM_at + 13.2 s + 0.256 s";
  add("headline, by eq. 5", "s", 16.2, model::htmt_equation_5_s(htmt), 0.01, headline);
  add("headline, by eq. 6 as printed", "s", 16.2, model::htmt_equation_6_s(htmt), 0.01, headline);
  add("headline, by the formula printed for P", "s", 16.2, model::htmt_printed_rate_s(htmt), 0.01, headline);
  add("headline, by eq. 6 with 0.256 s for its 24 ms", "s", 16.2, model::htmt_headline_s(htmt));
  add("headline's rate, by eq. 5", "PFlop/s", 1.1, pflops(htmt, model::htmt_equation_5_s(htmt)), 0.02, headline);
  add("headline's rate, by eq. 6 as printed", "PFlop/s", 1.1, pflops(htmt, model::htmt_equation_6_s(htmt)), 0.02,
      headline);
  add("headline's rate, by the formula printed for P", "PFlop/s", 1.1, pflops(htmt, model::htmt_printed_rate_s(htmt)),
      0.02, headline);
  add("headline's rate, by eq. 6 with 0.256 s", "PFlop/s", 1.1, pflops(htmt, model::htmt_headline_s(htmt)), 0.02);
  add("percolation in eq. 6", "ms", 24,
      1e3 * (2 * times.dram_to_sram_s + htmt.t * htmt.t * (2 * htmt.t + 1) * times.sram_to_cram_s), 0.01,
      "2 IP_DS + t^2 (2 t + 1) IP_SC is 256 ms; t^2 (2 t + 1) IP_SC alone 235 ms, of which 24 ms is a decimal slip");
  add("DRAM_at's factor in the formula for P", "10^9", 4.12,
      2 * 3 * (htmt.t * htmt.b_c) * (htmt.t * htmt.b_c) * (htmt.s + 1) / 1e9, 0.01,
      "3 D_t has 4.12e9; eq. 6 prints 2.8e9");
  add("DRAM_at's factor in eq. 6", "10^9", 2.8, 2 * 3 * (htmt.t * htmt.b_c) * (htmt.t * htmt.b_c) * (htmt.s + 1) / 1e9,
      0.01, "3 D_t has 4.12e9, which the formula for P prints; 2.8e9 are 2 D_t");
  Curves figure{.title = "Figure 7, by the formula printed for P",
                .x_name = "SF_t, ps",
                .y_name = "PFlop/s",
                .x = {},
                .series = {{"q = 1", {}}, {"q = 10", {}}}};
  for (const double cycle_ps : {5, 10, 15, 20, 30, 60}) {
    model::Htmt at{.fpu_cycle_s = cycle_ps * 1e-12};
    figure.x.push_back(cycle_ps);
    figure.series[0].y.push_back(pflops(at, model::htmt_printed_rate_s(at)));
    at.q = 10;
    figure.series[1].y.push_back(pflops(at, model::htmt_printed_rate_s(at)));
  }
  found.curves.push_back(figure);
  return found;
}

}  // namespace penstock::lab
