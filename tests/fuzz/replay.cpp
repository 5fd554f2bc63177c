// Runs the fuzzer's target without a fuzzer: on the files named, and on random inputs.
//
// replay [--random=N] FILE...
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  int files = 0;
  int inputs = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    constexpr std::string_view option = "--random=";
    if (argument.starts_with(option)) {
      std::mt19937 random(20261121);
      for (inputs = 0; inputs < std::atoi(argv[i] + option.size()); ++inputs) {
        std::vector<std::uint8_t> input(std::uniform_int_distribution<std::size_t>(0, 300)(random));
        for (std::uint8_t& byte : input) {
          byte = static_cast<std::uint8_t>(std::uniform_int_distribution<int>(0, 255)(random));
        }
        LLVMFuzzerTestOneInput(input.data(), input.size());
      }
      continue;
    }
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "replay: %s cannot be read\n", argv[i]);
      return 2;
    }
    const std::vector<char> input{std::istreambuf_iterator<char>(file), {}};
    std::printf("%s\n", argv[i]);
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    ++files;
  }
  std::printf("%d files and %d random inputs\n", files, inputs);
  return 0;
}
