// One piece of work on files: its memory, its programs, its end.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/journal/journal.hpp"
#include "penstock/outofcore/outofcore.hpp"

namespace penstock::outofcore {
namespace {

const Options& checked(const Options& options, const std::string& work) {
  if (options.threads < 1) {
    throw Error(fmt::format("a {} on {} threads: at least 1 is needed", work, options.threads));
  }
  return options;
}

}  // namespace

Driver::Driver(const Options& options, std::string work, const std::string& output, std::vector<std::string> beside)
    : Driver(options, std::move(work)) {
  result_ = std::make_unique<journal::ResumableFile>(output, work_, std::move(beside));
}

Driver::Driver(const Options& options, std::string work) : options_(checked(options, work)), work_(std::move(work)) {
  if (options_.engine == nullptr) {
    own_engine_ = percolate::make_engine();
  }
  begin_s_ = seconds();
}

Driver::~Driver() = default;

std::int64_t Driver::reserved_bytes(std::int64_t later_bytes) const {
  const std::int64_t of_threads = std::int64_t{256 + 128 * options_.threads} << 10;  // their stacks, and parcels
  return round_up(resident_bytes() + of_threads + later_bytes, options_.memory_bytes / 128 + 1);
}

std::int64_t Driver::measuring_bytes(std::int64_t taken_bytes) const {
  return std::max<std::int64_t>((options_.memory_bytes - taken_bytes) / 2, 0);
}

void Driver::check_begun(std::int64_t piece_bytes, std::int64_t reserved_bytes, std::string_view pieces) const {
  if (piece_bytes + reserved_bytes > options_.memory_bytes + options_.memory_bytes / 32) {
    throw Error(fmt::format("the {} was begun with {} that take {} with {} threads: give at least that, or {}", work_,
                            pieces, format_bytes(static_cast<std::uint64_t>(piece_bytes + reserved_bytes)),
                            options_.threads, result_->how_to_begin_anew()));
  }
}

Error Driver::foreign_tiling() const {
  return Error(fmt::format("the journal tells of no tiling of this {}: {}", work_, result_->how_to_begin_anew()));
}

void Driver::make(const std::function<void()>& pieces) {
  begin_s_ = seconds();
  try {
    pieces();
  } catch (const Error& error) {
    throw Error(fmt::format("{}; what is complete is kept, and the next run goes on with it", error.what()));
  }
}

double Driver::elapsed_s() const noexcept {
  return seconds() - begin_s_;
}

percolate::RunTimes Driver::run(const percolate::Slots& slots, const percolate::Program& program, int window,
                                const std::function<Done()>& done) {
  const auto progress = [&] {
    const Done now = done();
    return percolate::Progress{.done = now.done, .total = now.total, .elapsed_s = elapsed_s()};
  };
  return percolate::run(slots, engine(), percolate::with_progress(program, progress, options_.progress),
                        {.workers = options_.threads, .window = window});
}

void Driver::complete(const journal::ResumeKey& key) {
  result_->check(key);
  result_->commit();
}

}  // namespace penstock::outofcore
