#include "penstock/cli/fft/wisdom.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"

namespace penstock::cli {
namespace {

/// In the user's cache folder, a file for each version of Penstock; empty where the environment names no folder.
std::string wisdom_path() {
  const std::string name = "/penstock/wisdom-" PENSTOCK_VERSION;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') {  // a relative path counts as none (XDG Base Directory Specification)
    return cache + name;
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? std::string(home) + "/.cache" + name : "";
}

/// The file's text, empty where there is none; a note on standard error where it cannot be read.
std::string read_if_there(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::exists(path, ignored)) {
    return "";
  }
  try {
    return read_text(path);
  } catch (const Error& error) {
    fmt::print(stderr, "penstock: note: {} is not used: {}\n", path, error.what());
    return "";
  }
}

void note_damage(const std::string& path) {
  fmt::print(stderr, "penstock: note: {} is damaged, and ignored\n", path);
}

/// The draft of a small file, which other runs write within moments. Throws Error as Draft does.
Draft wait_for_draft(const std::string& path) {
  constexpr int max_tries = 100;
  for (int tries = 1;; ++tries) {
    try {
      return Draft(path);
    } catch (const FileIsBusy&) {
      if (tries == max_tries) {
        throw;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

/// Writes to the file what `merged` makes of the text that it has now, which another run may have written since this
/// one read it. Returns false, after a note on standard error, where that does not work.
template <class Merged>
bool update(const std::string& path, Merged merged) {
  try {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    Draft draft = wait_for_draft(path);
    const std::string text = merged(read_if_there(path));
    draft.file().write(0, std::as_bytes(std::span(text)));
    draft.commit();
    return true;
  } catch (const std::exception& error) {
    fmt::print(stderr, "penstock: note: {} cannot be kept: {}\n", path, error.what());
    return false;
  }
}

/// Collective: the text of rank 0.
std::string broadcast(const gas::Team& team, const std::string& text) {
  const std::size_t bytes = team.all_gather(text.size()).front();
  std::string copy = text;
  copy.resize(bytes);
  gas::broadcast(team, std::span(copy), 0);
  return copy;
}

}  // namespace

WisdomFile::WisdomFile(const Session& session, fft::Options& options, bool is_used) {
  if (!is_used || (options.effort != fft::Effort::measure && options.planning != fft::Planning::measure)) {
    return;
  }
  path_ = wisdom_path();
  wisdom_ = std::make_shared<fft::Wisdom>();
  const std::string text = broadcast(session.team, session.is_first() ? read_if_there(path_) : "");
  description_ = text.empty() ? description_ : "read from " + path_;
  // Ranks that are threads share what local transforms have learned.
  const bool reads = session.is_first() || session.team.transport().name != "threads";
  if (reads && !text.empty() && !wisdom_->read(text) && session.is_first()) {
    note_damage(path_);
    description_ = "not used";
  }
  known_ = session.is_first() ? wisdom_->text() : "";
  options.wisdom = wisdom_;
  session.team.barrier();
}

void WisdomFile::keep(const Session& session) {
  session.team.barrier();  // all have planned
  if (!session.is_first() || path_.empty() || wisdom_->text() == known_) {
    return;
  }
  const bool is_kept = update(path_, [&](const std::string& now) {
    wisdom_->read(now);
    return wisdom_->text();
  });
  if (is_kept) {
    description_ = (description_ == "not used" ? "written to " : "added to ") + path_;
  }
}

}  // namespace penstock::cli
