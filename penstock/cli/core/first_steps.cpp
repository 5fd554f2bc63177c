#include "penstock/cli/core/first_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/subcommand.hpp"

namespace penstock::cli {
namespace {

/// The edge of a cube whose transform takes a few seconds at most, and a small part of the memory.
std::int64_t edge_for(std::uint64_t available_bytes) {
  constexpr std::uint64_t bytes_a_point = 64;  // the field, the memory of exchanges, and as much again to spare
  std::int64_t edge = 256;
  while (edge > 32 && static_cast<std::uint64_t>(edge * edge * edge) * bytes_a_point > available_bytes / 2) {
    edge /= 2;
  }
  return edge;
}

struct Example {
  std::string line;
  std::string shows;
};

}  // namespace

std::string first_steps(const std::string& command) {
  const int processors = usable_processors();
  const std::uint64_t available_bytes = available_memory_bytes();
  const std::int64_t edge = edge_for(available_bytes);
  const std::string transform = fmt::format("{} fft --size {}x{}x{}", command, edge, edge, edge);
  std::vector<Example> examples{
      {transform, processors > 1
                      ? fmt::format("a transform on {} threads, and the limit of this machine beside it", processors)
                      : "a transform, and the limit of this machine beside it"},
      {transform + " --ranks 2", "the same on two ranks, which exchange the field"},
      {command + " model fft --machine gigabit-ethernet --size 128x128x128 --sweep nodes=1..16:x2",
       "whether more nodes would help, and what holds them back"}};
  if (std::ranges::find(subcommands(), std::string_view("explore"), &Subcommand::name) != subcommands().end()) {
    examples.push_back({command + " explore", "a page for a browser in which such models answer at once"});
  }
  std::string text = fmt::format(
      "Penstock transforms fields (3-D FFTs) and multiplies matrices, on one machine, across many and larger than\n"
      "memory, and models what other machines would take. Each run prints the limit of the machine beside what it\n"
      "reached. This machine lends it {} processor{} and has {} of memory left.\n"
      "\n"
      "To begin with, each takes some seconds:\n",
      processors, processors > 1 ? "s" : "", format_bytes(available_bytes));
  for (const Example& example : examples) {
    text += fmt::format("  {}\n      {}\n", example.line, example.shows);
  }
  return text + fmt::format(
                    "\n"
                    "{} --help lists all subcommands; with --help behind a subcommand, its options are listed.\n",
                    command);
}

}  // namespace penstock::cli
