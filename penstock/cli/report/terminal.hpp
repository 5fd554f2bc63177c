// What a terminal gets beside the text that files and pipes get: emphasis, and bars for the parts of a whole.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace penstock::cli {

/// Whether `stream` (STDOUT_FILENO, STDERR_FILENO) is a terminal of the user's that takes escape sequences (ECMA-48):
/// not where TERM is "dumb" or none. Standard output of a process that a launcher started is none: Open MPI gives its
/// processes terminals of their own there, wherever its output goes.
bool takes_escapes(int stream);

/// The answer that a table is printed for, in bold letters where standard output takes escapes and NO_COLOR is not set;
/// else as it is.
std::string strong(std::string_view text);
/// The same in red: what has failed.
std::string alarming(std::string_view text);

/// A part of a whole, of any unit; its name is drawn into it as far as it fits.
struct Part {
  std::string_view name;
  double amount = 0;
};

/// A line that begins with `indentation` spaces and draws the parts in proportion; nothing where standard output takes
/// no escapes, or all parts are none.
std::string bar(int indentation, std::span<const Part> parts);

}  // namespace penstock::cli
