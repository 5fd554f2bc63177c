#include "penstock/cli/wisdom.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"

namespace penstock::cli {
namespace {

/// Empty where the environment names no folder.
std::string wisdom_path() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') {  // a relative path counts as none (XDG Base Directory Specification)
    return std::string(cache) + "/penstock/wisdom";
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? std::string(home) + "/.cache/penstock/wisdom" : "";
}

/// Collective: the text of rank 0.
std::string broadcast(const gas::Team& team, const std::string& text) {
  const std::size_t bytes = team.all_gather(text.size()).front();
  gas::Segment segment(team, bytes, 1);
  if (team.rank() == 0) {
    for (int peer = 0; peer < team.size(); ++peer) {
      segment.put_signal(gas::Pointer<>{peer, 0}, std::as_bytes(std::span(text)), 0);
    }
  }
  segment.wait(0, 1);
  const auto received = segment.local();
  std::string copy(reinterpret_cast<const char*>(received.data()), received.size());
  team.barrier();
  return copy;
}

}  // namespace

WisdomFile::WisdomFile(const Session& session, bool is_used) {
  if (!is_used) {
    return;
  }
  path_ = wisdom_path();
  std::string text;
  std::error_code ignored;
  if (session.is_first() && !path_.empty() && std::filesystem::exists(path_, ignored)) {
    try {
      text = read_text(path_);
      description_ = "read from " + path_;
    } catch (const Error& error) {
      fmt::print(stderr, "penstock: note: the wisdom is not used: {}\n", error.what());
    }
  }
  text = broadcast(session.team, text);
  // Ranks that are threads share one planner, and FFTW's import is not made for several threads at once.
  const bool imports = session.is_first() || session.team.transport_name() != "threads";
  if (imports && !text.empty() && !fft::import_wisdom(text) && session.is_first()) {
    fmt::print(stderr, "penstock: note: {} is damaged or of another version, and ignored\n", path_);
    description_ = "not used";
  }
  known_ = session.is_first() ? fft::export_wisdom() : "";
  session.team.barrier();
}

void WisdomFile::keep(const Session& session) {
  session.team.barrier();  // all have planned
  if (!session.is_first() || path_.empty()) {
    return;
  }
  const std::string learned = fft::export_wisdom();
  if (learned == known_) {
    return;
  }
  // Runs at the same time each write a file of their own; the last one renamed stays.
  const std::string draft = fmt::format("{}.{}", path_, getpid());
  try {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    write_text(draft, learned);
    std::filesystem::rename(draft, path_);
    description_ = (description_ == "not used" ? "written to " : "added to ") + path_;
  } catch (const std::exception& error) {
    fmt::print(stderr, "penstock: note: the wisdom cannot be kept: {}\n", error.what());
  }
}

}  // namespace penstock::cli
