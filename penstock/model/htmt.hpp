// The matrix multiply by percolation on the HTMT machine: Amaral et al., "Performance Prediction for the HTMT" (seed
// 4). Matrices of q M x q M words, in t x t blocks of s x s sub-blocks of b_c x b_c words: M = t s b_c.
#pragma once

#pragma GCC visibility push(default)

namespace penstock::model {

/// The sizes of section 5 and the hardware of Table 2. Times are seconds for a word or an operation.
struct Htmt {
  double q = 1;
  double s = 64;     ///< the SPELLs are a grid of s x s
  double t = 26;     ///< blocks in a row
  double b_c = 125;  ///< words in a row of a sub-block

  double dram_word_s = 0.97e-9;  ///< DRAM_at
  double sram_word_s = 0.42e-9;  ///< SRAM_at
  double fpu_cycle_s = 15e-12;   ///< SF_t
  double fpus_per_spell = 5;
  double cnet_words_per_s = 16.7e9;

  /// The edge of the matrices, q M.
  double edge() const noexcept { return q * t * s * b_c; }
  /// The operations of the multiply, 2 (q M)^3.
  double flops() const noexcept { return 2 * edge() * edge() * edge(); }
  /// The rate of all units of all SPELLs.
  double peak_flops() const noexcept { return s * s * fpus_per_spell / fpu_cycle_s; }
};

/// The times of Table 3.
struct HtmtTimes {
  double transformation_s = 0;  ///< D_t = 2 (t b_c)^2 (s + 1) DRAM_at
  double multiply_s = 0;        ///< M_S = 2 b_c^3 SF_t / units
  double shift_s = 0;           ///< D_S = b_c^2 / CNET; the table prints its microseconds as seconds
  double sram_to_cram_s = 0;    ///< IP_SC = b_c^2 SRAM_at
  double dram_to_sram_s = 0;    ///< IP_DS = (t b_c)^2 DRAM_at
};

HtmtTimes htmt_times(const Htmt& htmt) noexcept;

/// Eq. 4 as printed, with OP = IP. Its term t OP_CS should be t^2 OP_CS, as in eq. 5.
double htmt_equation_4_s(const Htmt& htmt) noexcept;

/// Eq. 5: 3 D_t + q^3 (t^3 s M_S + 2 IP_DS + t^2 (2 t + 1) IP_SC).
double htmt_equation_5_s(const Htmt& htmt) noexcept;

/// Eq. 6 as printed, for the design point's sizes: 2.8e9 DRAM_at + q^3 (0.88e12 SF_t + 24 ms).
double htmt_equation_6_s(const Htmt& htmt) noexcept;

/// The time in the formula printed for P: eq. 6 with its first term, 2.8e9 DRAM_at, replaced by 4.12e9 DRAM_at.
double htmt_printed_rate_s(const Htmt& htmt) noexcept;

/// The time that gives the paper's headline of 16.2 s: eq. 6 with its printed 24 ms, which lost a digit, replaced by
/// 2 IP_DS + t^2 (2 t + 1) IP_SC, which is 0.256 s.
double htmt_headline_s(const Htmt& htmt) noexcept;

/// The largest b_c of which seven sub-blocks fit into so many words of CRAM (section 5).
double htmt_largest_sub_block(double words) noexcept;

}  // namespace penstock::model

#pragma GCC visibility pop
