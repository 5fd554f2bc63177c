// A rank's part of C is stationary; panels of A and B, read in place or fetched ahead, pass by in a skewed order.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/gemm/distributed.hpp"
#include "penstock/gemm/operand.hpp"

namespace penstock::gemm {

/// The work of one rank on its part of C, where it reads what it needs.
template <class T>
class Stationary {
 public:
  Stationary(const gas::Team& team, Operand<T> a, Operand<T> b, GlobalMatrix<T>& c, T alpha, T beta, ThreadPool& pool)
      : team_(team), a_(a), b_(b), c_(c), alpha_(alpha), beta_(beta), pool_(pool) {
    const auto boxes = c.boxes(team.rank());
    if (!boxes.empty()) {
      rows_ = {boxes[0].lower[0], boxes[0].extent[0]};
      columns_ = {boxes[0].lower[1], boxes[0].extent[1]};
    }
  }

  ~Stationary() {
    // Where something was thrown, panels are under way into the buffers.
    for (Panel& panel : panels_) {
      panel.arrived.abandon();
    }
  }
  Stationary(const Stationary&) = delete;
  Stationary& operator=(const Stationary&) = delete;

  void run(DistributedTimes& times) {
    if (rows_.extent == 0 || columns_.extent == 0) {
      return;
    }
    plan();
    if (panels_.empty()) {
      scale(npy::data_type<T>(), rows_.extent, columns_.extent, beta_, bytes_of_c(), c_.view().extents[1]);
      return;
    }
    for (std::size_t ahead = 0; ahead + 1 < buffers && ahead < panels_.size(); ++ahead) {
      fetch(ahead, times);
    }
    for (std::size_t number = 0; number < panels_.size(); ++number) {
      Panel& panel = panels_[number];
      const double begin_s = seconds();
      panel.arrived.wait();
      const double arrived_s = seconds();
      times.wait_s += arrived_s - begin_s;
      // The buffers of the panel before are free now.
      if (number + buffers - 1 < panels_.size()) {
        fetch(number + buffers - 1, times);
      }
      multiply_panel(panel, number == 0 ? beta_ : T{1});
      times.multiply_s += seconds() - arrived_s;
    }
  }

 private:
  static constexpr std::size_t buffers = 3;

  /// A range of k, with what of A and B belongs to it: in place, or in a buffer.
  struct Panel {
    Range depth;
    std::vector<std::pair<Range, Block>> a;  // by rows of C
    std::vector<std::pair<Range, Block>> b;  // by columns of C
    gas::Event arrived = {};
  };

  /// The pieces of a panel that lie in place; none where one of them does not.
  static std::vector<std::pair<Range, Block>> in_place(const std::vector<Range>& pieces, const auto& block_of) {
    std::vector<std::pair<Range, Block>> blocks;
    for (const Range& piece : pieces) {
      const std::optional<Block> block = block_of(piece);
      if (!block) {
        return {};
      }
      blocks.emplace_back(piece, *block);
    }
    return blocks;
  }

  /// The panels in the order of this rank, each within one block of A's and B's columns and rows.
  void plan() {
    const std::vector<Range> row_pieces = cut(rows_, a_.block(0), rows_.extent);
    const std::vector<Range> column_pieces = cut(columns_, b_.block(1), columns_.extent);
    std::vector<Range> depths;
    for (const Range& whole : cut({0, a_.extent(1)}, a_.block(1), a_.extent(1))) {
      for (const Range& part : cut(whole, b_.block(0), whole.extent)) {
        depths.push_back(part);
      }
    }
    for (const Range& depth : depths) {
      Panel panel{.depth = depth, .a = {}, .b = {}};
      panel.a = in_place(row_pieces, [&](const Range& piece) { return a_.in_place(piece, depth); });
      panel.b = in_place(column_pieces, [&](const Range& piece) { return b_.in_place(depth, piece); });
      if (!panel.a.empty() && !panel.b.empty()) {
        panels_.push_back(std::move(panel));
        continue;
      }
      needs_network_ = true;
      // Panels as deep as OpenBLAS blocks k: deeper ones would not be multiplied faster, only arrive later.
      constexpr std::int64_t fetched_depth = 512;
      for (const Range& part : cut(depth, depth.end() + 1, fetched_depth)) {
        Panel thin{.depth = part, .a = {}, .b = {}};
        thin.a = in_place(row_pieces, [&](const Range& piece) { return a_.in_place(piece, part); });
        thin.b = in_place(column_pieces, [&](const Range& piece) { return b_.in_place(part, piece); });
        panels_.push_back(std::move(thin));
      }
    }
    // The skewed start: ranks of one row and of one column of the grid each begin elsewhere.
    const std::vector<int> at = coordinates();
    const auto largest = static_cast<std::size_t>(std::max(c_.grid()[0], c_.grid()[1]));
    const std::size_t skew = static_cast<std::size_t>(at[0] + at[1]) * panels_.size() / largest;
    if (!panels_.empty()) {
      std::rotate(panels_.begin(), panels_.begin() + static_cast<std::ptrdiff_t>(skew % panels_.size()), panels_.end());
    }
  }

  std::vector<int> coordinates() const {
    const auto columns = static_cast<int>(c_.grid()[1]);
    return {team_.rank() / columns, team_.rank() % columns};
  }

  /// Begins to fetch what of a panel does not lie in place.
  void fetch(std::size_t number, DistributedTimes& times) {
    Panel& panel = panels_[number];
    std::vector<gas::Event> events;
    const auto get = [&](Operand<T>& operand, std::vector<T>& buffer, const Range& rows, const Range& columns) {
      buffer.resize(std::max(buffer.size(), static_cast<std::size_t>(rows.extent * columns.extent)));
      const std::span<T> into(buffer.data(), static_cast<std::size_t>(rows.extent * columns.extent));
      events.push_back(operand.start_get(rows, columns, into));
      times.fetched_bytes += static_cast<std::int64_t>(into.size_bytes());
      return operand.fetched(rows, columns, buffer.data());
    };
    if (panel.a.empty()) {
      panel.a = {{rows_, get(a_, a_buffers_[number % buffers], rows_, panel.depth)}};
    }
    if (panel.b.empty()) {
      panel.b = {{columns_, get(b_, b_buffers_[number % buffers], panel.depth, columns_)}};
    }
    panel.arrived = gas::all_of(events);
  }

  std::byte* bytes_of_c() const { return reinterpret_cast<std::byte*>(c_.local().data()); }

  /// Each thread multiplies its share of the rows, or of the columns where these are more.
  void multiply_panel(const Panel& panel, T beta) {
    const bool by_rows = rows_.extent >= columns_.extent;
    const std::int64_t count = by_rows ? rows_.extent : columns_.extent;
    pool_.run([&](int thread) {
      const trace::Span span("multiply", trace::Category::multiply, {}, trace::Within::recorded);
      const std::int64_t first = count * thread / pool_.size();
      const Range share{first, count * (thread + 1) / pool_.size() - first};
      const Range rows = by_rows ? Range{rows_.lower + share.lower, share.extent} : rows_;
      const Range columns = by_rows ? columns_ : Range{columns_.lower + share.lower, share.extent};
      for (const auto& [a_rows, a_block] : panel.a) {
        for (const auto& [b_columns, b_block] : panel.b) {
          multiply_part(panel, rows, a_rows, a_block, columns, b_columns, b_block, beta, thread == 0);
        }
      }
    });
  }

  /// What a thread's rows and columns have in common with blocks of A and B. The first thread looks after what others
  /// ask of this rank now and then.
  void multiply_part(const Panel& panel, const Range& rows, const Range& a_rows, const Block& a, const Range& columns,
                     const Range& b_columns, const Block& b, T beta, bool is_first) {
    const std::int64_t left = std::max(columns.lower, b_columns.lower);
    const std::int64_t right = std::min(columns.end(), b_columns.end());
    const std::int64_t bottom = std::min(rows.end(), a_rows.end());
    if (right <= left) {
      return;
    }
    const std::int64_t most = needs_network_ ? 256 : rows.extent;  // rows between two polls of the network
    for (std::int64_t row = std::max(rows.lower, a_rows.lower); row < bottom; row += most) {
      const std::int64_t height = std::min(most, bottom - row);
      const std::int64_t leading_c = c_.view().extents[1];
      gemm::multiply(npy::data_type<T>(), height, right - left, panel.depth.extent, {.alpha = alpha_, .beta = beta},
                     moved<T>(a, row - a_rows.lower, 0), moved<T>(b, 0, left - b_columns.lower),
                     bytes_of_c() + ((row - rows_.lower) * leading_c + left - columns_.lower) *
                                        static_cast<std::int64_t>(sizeof(T)),
                     leading_c);
      if (needs_network_ && is_first) {
        team_.poll();
      }
    }
  }

  const gas::Team& team_;
  Operand<T> a_;
  Operand<T> b_;
  GlobalMatrix<T>& c_;
  T alpha_;
  T beta_;
  ThreadPool& pool_;
  Range rows_;
  Range columns_;
  bool needs_network_ = false;
  std::vector<Panel> panels_;
  std::array<std::vector<T>, buffers> a_buffers_;
  std::array<std::vector<T>, buffers> b_buffers_;
};

}  // namespace penstock::gemm
