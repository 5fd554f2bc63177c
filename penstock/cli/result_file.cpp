#include "penstock/cli/result_file.hpp"

#include <fmt/format.h>

#include <span>

#include "penstock/base/base.hpp"

namespace penstock::cli {

ResultFile::ResultFile(const Session& session, std::string_view option, const std::string& path) {
  session.team.together([&] {
    if (!session.is_first() || path.empty()) {
      return;
    }
    is_standard_output_ = path == "-";
    try {
      if (!is_standard_output_) {
        draft_.emplace(path);
      }
    } catch (const Error& error) {
      throw Error(fmt::format("{} {}: {}", option, path, error.what()));
    }
  });
}

void ResultFile::write(std::string_view text) {
  if (is_standard_output_) {
    fmt::print("{}", text);
  }
  if (draft_) {
    draft_->file().write(0, std::as_bytes(std::span(text)));
    draft_->commit();
    draft_.reset();
  }
}

}  // namespace penstock::cli
