// What planning has learned about this machine, kept between runs in the user's cache folder.
#pragma once

#include <memory>
#include <string>

#include "penstock/cli/core/session.hpp"
#include "penstock/fft/fft.hpp"

namespace penstock::cli {

/// The wisdom file of this user: $XDG_CACHE_HOME/penstock/wisdom-VERSION, else in ~/.cache/penstock. The first rank
/// reads and writes it.
class WisdomFile {
 public:
  /// Collective: reads it into `options.wisdom` on every rank. Does nothing where `is_used` is false, nothing is
  /// measured or there is no such folder. A file that cannot be used is named in a note on standard error, and ignored.
  WisdomFile(const Session& session, fft::Options& options, bool is_used);

  /// Collective, after planning: writes what has been learned since, beside the file and renamed.
  void keep(const Session& session);

  /// What became of it, for people: "read", "written" and so on, with its path; "not used".
  const std::string& description() const noexcept { return description_; }

 private:
  std::string path_;  // empty: not used
  std::string known_;
  std::shared_ptr<fft::Wisdom> wisdom_;
  std::string description_ = "not used";
};

}  // namespace penstock::cli
