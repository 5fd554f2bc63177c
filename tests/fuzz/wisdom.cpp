// What planning remembers, from any text: what is accepted is written and read again as the same, and text that is no
// wisdom changes nothing.
#include <string>

#include "penstock/fft/fft.hpp"
#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace penstock;
  const std::string text(text_of(data, size));
  fft::Wisdom wisdom;
  const std::string before = wisdom.text();
  const bool is_accepted = wisdom.read(text);
  const std::string written = wisdom.text();
  require(is_accepted || text.starts_with("# penstock wisdom ") || written == before,
          "text that is no wisdom changes nothing");
  fft::Wisdom again;
  require(again.read(written) && again.text() == written, "wisdom written is read as the same");
  return 0;
}
