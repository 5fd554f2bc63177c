// The file: a Head; the rows of modes along z, each with its checksum behind it, component by component
// in the order of Modes::Row::number; the history with its checksum.
#include "checkpoint.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <penstock/base/checksum.hpp>
#include <penstock/base/draft.hpp>
#include <penstock/base/error.hpp>
#include <span>

namespace navier_stokes {
namespace {

using penstock::Draft;
using penstock::Error;
using penstock::File;
using penstock::gas::Team;
using Sum = std::uint64_t;

struct Head {
  std::array<char, 24> format{"navier_stokes state 1\n"};
  std::array<char, 160> parameters{};
  std::int64_t samples = 0;
  Sum sum = 0;  // of all before it
};

Sum sum_of(const Head& head) {
  return penstock::checksum(std::as_bytes(std::span(&head, 1)).first(offsetof(Head, sum)));
}

Head head_of(const Parameters& parameters, std::size_t samples) {
  Head head;
  text_of(parameters).copy(head.parameters.data(), head.parameters.size() - 1);
  head.samples = static_cast<std::int64_t>(samples);
  head.sum = sum_of(head);
  return head;
}

/// Elements, and their checksum behind them, as they lie in the file.
class Record {
 public:
  explicit Record(std::size_t content_bytes) : bytes_(content_bytes + sizeof(Sum)) {}
  std::span<std::byte> bytes() { return bytes_; }
  std::span<std::byte> content() { return bytes().first(bytes_.size() - sizeof(Sum)); }
  void seal() {
    const Sum sum = penstock::checksum(content());
    std::memcpy(bytes_.data() + content().size(), &sum, sizeof sum);
  }
  bool is_whole() {
    const Sum sum = penstock::checksum(content());
    return std::memcmp(bytes_.data() + content().size(), &sum, sizeof sum) == 0;
  }

 private:
  std::vector<std::byte> bytes_;
};

/// The rows of all ranks in the file.
class Rows {
 public:
  explicit Rows(const Modes& modes)
      : rows_(modes.all_rows()), record_(static_cast<std::size_t>(modes.count()) * sizeof(Complex)) {}

  Record& record() { return record_; }
  std::int64_t offset(int component, std::int64_t row) {
    return static_cast<std::int64_t>(sizeof(Head)) +
           (component * rows_ + row) * static_cast<std::int64_t>(record_.bytes().size());
  }
  std::int64_t end() { return offset(3, 0); }

 private:
  std::int64_t rows_;
  Record record_;
};

/// The modes of a row of the velocity.
std::span<Complex> modes_of(Solver& solver, int component, const Modes::Row& row) {
  return solver.velocity().spectrum(component).subspan(row.begin, static_cast<std::size_t>(solver.modes().count()));
}

void write_rows(const File& file, Solver& solver) {
  const Modes& modes = solver.modes();
  Rows rows(modes);
  for (int component = 0; component < 3; ++component) {
    for (const Modes::Row& row : modes.rows()) {
      std::ranges::copy(std::as_bytes(modes_of(solver, component, row)), rows.record().content().begin());
      rows.record().seal();
      file.write(rows.offset(component, row.number), rows.record().bytes());
    }
  }
}

/// Whether all rows of this rank are whole.
bool read_rows(const File& file, Solver& solver) {
  const Modes& modes = solver.modes();
  Rows rows(modes);
  for (int component = 0; component < 3; ++component) {
    for (const Modes::Row& row : modes.rows()) {
      file.read(rows.offset(component, row.number), rows.record().bytes());
      if (!rows.record().is_whole()) {
        return false;
      }
      std::ranges::copy(rows.record().content(), std::as_writable_bytes(modes_of(solver, component, row)).begin());
    }
  }
  return true;
}

/// Throws Error where the file is not a state of this run's parameters.
Head read_head(const File& file, const Parameters& parameters) {
  const Head wanted = head_of(parameters, 0);
  Head head;
  const bool has_head = file.size() >= static_cast<std::int64_t>(sizeof head);
  if (has_head) {
    file.read(0, std::as_writable_bytes(std::span(&head, 1)));
  }
  if (!has_head || head.format != wanted.format) {
    throw Error("'" + file.path() + "' is no checkpoint of navier_stokes");
  }
  if (head.sum != sum_of(head)) {
    throw Error("'" + file.path() + "' has been damaged in its first bytes: take another checkpoint");
  }
  if (head.parameters != wanted.parameters) {
    throw Error("'" + file.path() + "' is of a run with " + head.parameters.data() + ", and this one is with " +
                wanted.parameters.data() + ": give the same");
  }
  return head;
}

}  // namespace

void write_checkpoint(const Team& team, const std::string& path, const Parameters& parameters, const History& history,
                      Solver& solver) {
  const bool is_first = team.rank() == 0;
  std::optional<Draft> draft;
  team.together([&] {
    if (is_first) {
      const std::int64_t end = Rows(solver.modes()).end();
      Record samples(history.size() * sizeof(Sample));
      std::memcpy(samples.content().data(), history.data(), samples.content().size());
      samples.seal();
      const Head head = head_of(parameters, history.size());
      draft.emplace(path);
      draft->file().reserve(end + static_cast<std::int64_t>(samples.bytes().size()));
      draft->file().write(0, std::as_bytes(std::span(&head, 1)));
      draft->file().write(end, samples.bytes());
    }
  });
  team.together([&] {
    const File file = File::open_for_writing(Draft::part_path(path));
    write_rows(file, solver);
    file.sync();
  });
  team.together([&] {
    if (is_first) {
      draft->commit();
    }
  });
}

History read_checkpoint(const Team& team, const std::string& path, const Parameters& parameters, Solver& solver) {
  History history;
  team.together([&] {
    const File file = File::open(path);
    const Head head = read_head(file, parameters);
    const std::int64_t end = Rows(solver.modes()).end();
    Record samples(static_cast<std::size_t>(head.samples) * sizeof(Sample));
    if (file.size() != end + static_cast<std::int64_t>(samples.bytes().size())) {
      throw Error("'" + path + "' is " + std::to_string(file.size()) + " bytes long, and whole it would be " +
                  std::to_string(end + static_cast<std::int64_t>(samples.bytes().size())) +
                  ": take another checkpoint");
    }
    file.read(end, samples.bytes());
    if (!samples.is_whole() || !read_rows(file, solver)) {
      throw Error("'" + path + "' has been damaged, as its checksums tell: take another checkpoint");
    }
    history.resize(static_cast<std::size_t>(head.samples));
    std::memcpy(history.data(), samples.content().data(), samples.content().size());
  });
  solver.begin_again();
  return history;
}

}  // namespace navier_stokes
