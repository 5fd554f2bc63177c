#include "penstock/cli/report/result_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <span>

#include "penstock/base/base.hpp"
#include "penstock/cli/report/output.hpp"

namespace penstock::cli {

ResultFile::ResultFile(const Session& session, std::string_view option, const std::string& path) {
  session.team.together([&] {
    if (!session.is_first() || path.empty()) {
      return;
    }
    try {
      if (path == "-" || is_stream(path)) {
        stream_path_ = path;
      } else {
        draft_.emplace(path);
        unfinished_.emplace(session.interruption, draft_->file().path());
      }
    } catch (const Error& error) {
      throw Error(fmt::format("{} {}: {}", option, path, error.what()));
    }
  });
}

void ResultFile::write(std::string_view text) {
  if (stream_path_ == "-") {
    write_output(text);
  } else if (!stream_path_.empty()) {
    flush_output();  // both may be the same
    write_text(stream_path_, text);
  }
  if (draft_) {
    draft_->file().write(0, std::as_bytes(std::span(text)));
    draft_->commit();
    draft_.reset();
    unfinished_.reset();
  }
}

// Two results in one file would be neither.
void refuse_equal_paths(const std::vector<std::string>& paths) {
  for (auto path = paths.begin(); path != paths.end(); ++path) {
    if (!path->empty() && std::find(path + 1, paths.end(), *path) != paths.end()) {
      throw Error(fmt::format("two results go to {}: give each a path of its own", *path));
    }
  }
}

}  // namespace penstock::cli
