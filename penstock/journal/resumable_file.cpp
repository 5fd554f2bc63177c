// What may be gone on with is what the journal says, if all that it says of the inputs is still so.
#include "penstock/journal/resumable_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "penstock/base/error.hpp"
#include "penstock/journal/fingerprint.hpp"

namespace penstock::journal {

namespace fs = std::filesystem;

void add_input(ResumeKey& resume_key, const std::string& key, const std::string& path, const File& file,
               bool is_verified_whole, bool is_replaced) {
  resume_key.push_back({key, fmt::format("{} {}", fs::absolute(path).string(), fingerprint(file)), path, is_replaced});
  if (is_verified_whole) {
    resume_key.push_back({key + "-whole", whole_checksum(file), path, is_replaced});
  }
}

ResumableFile::ResumableFile(const std::string& path, std::string work, std::vector<std::string> beside)
    : path_(follow_links(path)), work_(std::move(work)), beside_(std::move(beside)) {
  require_file_path(path);
  is_new_ = !fs::exists(journal_path());
  journal_.emplace(journal_path());
}

ResumableFile::~ResumableFile() {
  if (journal_ && is_new_ && !journal_->has_begun()) {
    journal_->remove();  // also beside a draft: that is another run's, for which this one was refused
  }
}

std::string ResumableFile::how_to_begin_anew() const {
  std::string files = fmt::format("'{}'", part_path());
  for (const std::string& path : beside_) {
    files += fmt::format(", '{}'", path);
  }
  return fmt::format("remove {} and '{}' to begin anew", files, journal_path());
}

std::vector<std::pair<std::string, std::string>> ResumableFile::first_lines(const ResumeKey& key,
                                                                            const std::string& tiling) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const ResumeFact& fact : key) {
    all.emplace_back(fact.key, fact.text);
  }
  all.emplace_back("tiling", tiling);
  return all;
}

ResumeState ResumableFile::find(const ResumeKey& key) {
  if (journal_->is_complete() && !fs::exists(part_path()) && fs::exists(path_)) {
    // The run ended between the renaming of the file and the removal of its journal.
    bool is_the_same = true;
    for (const ResumeFact& fact : key) {
      is_the_same = is_the_same && (fact.is_replaced || journal_->fact(fact.key) == fact.text);
    }
    if (is_the_same) {
      return ResumeState::complete;
    }
  }
  if (!journal_->has_begun() || !fs::exists(part_path())) {
    return ResumeState::anew;
  }
  for (const ResumeFact& fact : key) {
    if (journal_->fact(fact.key) == fact.text) {
      continue;
    }
    if (journal_->fact(fact.key).empty()) {
      throw Error(
          fmt::format("'{}' says nothing of '{}': resume this {} with the options that it was begun with, or {}",
                      journal_path(), fact.key, work_, how_to_begin_anew()));
    }
    if (fact.path.empty()) {
      throw Error(fmt::format("'{}' tells of another {} ({}): finish that, or {}", journal_path(), work_,
                              journal_->fact(fact.key), how_to_begin_anew()));
    }
    throw Error(fmt::format("'{}' is not as it was when this {} was begun: {}", fact.path, work_, how_to_begin_anew()));
  }
  return ResumeState::goes_on;
}

File ResumableFile::open(ResumeState state, const ResumeKey& key, const std::string& tiling, const std::string& header,
                         std::int64_t bytes) {
  const bool goes_on = state == ResumeState::goes_on;
  File file = open_part(path_);
  try {
    if (!goes_on) {
      file.truncate();
    }
    if (!goes_on || file.size() != bytes) {
      file.reserve(bytes);
    }
    file.write(0, std::as_bytes(std::span(header)));  // no checksum of the journal tells whether it is whole
    if (!goes_on) {
      journal_->begin(first_lines(key, tiling));
    }
  } catch (...) {
    if (!goes_on) {
      discard();
    }
    throw;
  }
  return file;
}

void ResumableFile::check(const ResumeKey& key) const {
  for (const ResumeFact& fact : key) {
    if (journal_->fact(fact.key) != fact.text) {
      throw Error(fmt::format("'{}' has changed while this {} was made: {}", fact.path, work_, how_to_begin_anew()));
    }
  }
}

void ResumableFile::commit() {
  journal_->complete();
  commit_part(File::open_for_writing(part_path()), path_);
  clear();
}

void ResumableFile::clear() {
  for (const std::string& path : beside_) {
    unlink(path.c_str());
  }
  journal_->remove();
}

void ResumableFile::discard() {
  unlink(part_path().c_str());
  clear();
  is_new_ = false;  // what lies there from now on is another run's
}

}  // namespace penstock::journal
