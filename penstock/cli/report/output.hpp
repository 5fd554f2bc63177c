// Standard output of the command, where every failed write is an Error.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace penstock::cli {

/// Keeps the numbers of standard input, output and error from files that are opened later, where the command was
/// started without them: what is then written to standard output fails.
void hold_standard_streams();

/// Writes `text` to standard output. Throws Error where it cannot be written.
void write_output(std::string_view text);

/// Hands everything written so far to the system. Throws Error where that, or an earlier write, has failed.
void flush_output();

/// Whether a write to standard output has failed.
bool has_output_failed();

template <class... Values>
void print_output(fmt::format_string<Values...> format, Values&&... values) {
  write_output(fmt::format(format, std::forward<Values>(values)...));
}

inline constexpr int report_title_width = 12;

/// A line of a report.
template <class... Values>
std::string report_line(std::string_view title, fmt::format_string<Values...> format, Values&&... values) {
  return fmt::format("{:<{}} ", title, report_title_width) + fmt::format(format, std::forward<Values>(values)...) +
         "\n";
}

}  // namespace penstock::cli
