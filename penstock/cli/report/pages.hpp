// The HTML pages that are built with the command and lie in it.
#pragma once

#include <string_view>

namespace penstock::cli {

/// The page that asks the models in a browser; empty in a build without pages.
std::string_view explore_page() noexcept;

/// The page that shows results, with "@RUN@" where they belong; empty in a build without pages.
std::string_view report_page() noexcept;

}  // namespace penstock::cli
