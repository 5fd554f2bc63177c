// Where --json sends a subcommand's results.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "penstock/base/file.hpp"
#include "penstock/cli/session.hpp"

namespace penstock::cli {

/// The results of one run as JSON: a file, standard output, or nowhere, as --json says. The first rank writes.
class JsonFile {
 public:
  /// Collective. Throws Error on every rank where the file cannot be written, before any work is done for it.
  explicit JsonFile(const Session& session);

  /// Writes `results`, whole; on other ranks than the first it does nothing. Throws Error where the disk is full.
  void write(const nlohmann::ordered_json& results);

 private:
  bool is_standard_output_ = false;
  std::optional<Draft> draft_;
};

}  // namespace penstock::cli
