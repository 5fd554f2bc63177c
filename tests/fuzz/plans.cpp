// What planning remembers, from any text: choices that are accepted are written and read again as the same; wisdom that
// is refused leaves that of before.
#include <string>

#include "penstock/fft/fft.hpp"
#include "tests/fuzz/target.hpp"

namespace penstock {
namespace {

void check_choices(const std::string& text) {
  fft::Choices choices;
  const std::string empty = choices.text();
  if (!choices.read(text)) {
    require(choices.text() == empty, "choices that are refused change nothing");
    return;
  }
  const std::string written = choices.text();
  fft::Choices again;
  require(again.read(written) && again.text() == written, "choices written are read as the same");
}

void check_wisdom(const std::string& text) {
  const std::string before = fft::export_wisdom();
  if (!fft::import_wisdom(text)) {
    require(fft::export_wisdom() == before, "wisdom that is refused changes nothing");
  }
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(penstock::text_of(data, size));
  penstock::check_choices(text);
  penstock::check_wisdom(text);
  return 0;
}
