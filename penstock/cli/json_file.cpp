#include "penstock/cli/json_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "penstock/base/base.hpp"

namespace penstock::cli {

JsonFile::JsonFile(const Session& session) {
  const std::string& path = session.options.json_path;
  std::string failure;
  if (session.is_first() && !path.empty()) {
    is_standard_output_ = path == "-";
    try {
      if (!is_standard_output_) {
        draft_.emplace(path);
      }
    } catch (const Error& error) {
      failure = fmt::format("--json {}: {}", path, error.what());
    }
  }
  session.team.agree(failure);
}

void JsonFile::write(const nlohmann::ordered_json& results) {
  const std::string text = results.dump(2) + "\n";
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
