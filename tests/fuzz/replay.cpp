// Runs a target of the fuzzer without it: on the files named, and on these with random changes (seed 20261121); where
// there are none, on random bytes.
//
// replay [--random=N] FILE...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

#include "tests/fuzz/target.hpp"

namespace {

using Input = std::vector<std::uint8_t>;

void run(const Input& input) {
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

std::size_t choose(std::mt19937& random, std::size_t most) {
  return std::uniform_int_distribution<std::size_t>(0, most)(random);
}

std::uint8_t choose_byte(std::mt19937& random) {
  return static_cast<std::uint8_t>(choose(random, 255));
}

Input random_input(std::mt19937& random) {
  Input input(choose(random, 300));
  std::ranges::generate(input, [&] { return choose_byte(random); });
  return input;
}

/// A few bytes changed, removed or doubled.
Input changed(Input input, std::mt19937& random) {
  for (std::size_t changes = choose(random, 4) + 1; changes > 0 && !input.empty(); --changes) {
    const std::size_t first = choose(random, input.size() - 1);
    const std::size_t bytes = std::min(input.size() - first, choose(random, 8) + 1);
    const auto at = input.begin() + static_cast<std::ptrdiff_t>(first);
    switch (choose(random, 2)) {
      case 0:
        *at = choose_byte(random);
        break;
      case 1:
        input.erase(at, at + static_cast<std::ptrdiff_t>(bytes));
        break;
      default: {
        const Input part(at, at + static_cast<std::ptrdiff_t>(bytes));
        const auto to = static_cast<std::ptrdiff_t>(choose(random, input.size()));
        input.insert(input.begin() + to, part.begin(), part.end());
      }
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Input> files;
  int inputs = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    constexpr std::string_view option = "--random=";
    if (argument.starts_with(option)) {
      inputs = std::atoi(argv[i] + option.size());
      continue;
    }
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "replay: %s cannot be read\n", argv[i]);
      return 2;
    }
    std::fprintf(stderr, "%s\n", argv[i]);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    run(files.back());
  }
  std::mt19937 random(20261121);
  for (int i = 0; i < inputs; ++i) {
    run(files.empty() || i % 2 == 0 ? random_input(random) : changed(files[choose(random, files.size() - 1)], random));
  }
  std::fprintf(stderr, "%zu files and %d random inputs\n", files.size(), inputs);
  return 0;
}
