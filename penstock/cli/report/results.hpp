// What a run found out: as JSON for programs (--json), as a page for people (--report).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "penstock/cli/core/session.hpp"
#include "penstock/cli/report/result_file.hpp"

namespace penstock::cli {

/// The files of --json and --report. The first rank writes.
class Results {
 public:
  /// Collective. `schema` names the file of schemas/ that describes the results, without ".json". Throws Error on every
  /// rank where a file cannot be written, before any work is done for it.
  Results(const Session& session, std::string schema);

  /// Whether there is a page. The same on all ranks.
  bool have_page() const noexcept { return has_page_; }

  /// Writes `result`, once: where it is an object, with "schema" before its keys. `details` are what the page shows
  /// beside it. On other ranks than the first it does nothing. Throws Error where the disk is full.
  void write(const nlohmann::ordered_json& result, const nlohmann::ordered_json& details = {});

 private:
  std::string page_text(const nlohmann::ordered_json& result, const nlohmann::ordered_json& details) const;

  std::string schema_;
  std::string command_;  // that repeats the run
  bool has_page_;
  ResultFile json_;
  ResultFile page_;
};

}  // namespace penstock::cli
