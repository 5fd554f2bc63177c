#include "penstock/mover/mover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "penstock/base/error.hpp"

namespace penstock::mover {

struct Mover::Program {
  layout::Layout source;
  layout::Layout destination;
};

Mover Mover::compile(const layout::Layout& source, const layout::Layout& destination, Hint) {
  if (source.bytes() != destination.bytes()) {
    throw Error(fmt::format("a mover's source names {} bytes and its destination {}: they must be equal",
                            source.bytes(), destination.bytes()));
  }
  Mover mover;
  if (source.bytes() > 0) {
    mover.program_ = std::make_shared<const Program>(Program{source, destination});
  }
  return mover;
}

void Mover::operator()(const std::byte* source, std::byte* destination) const noexcept {
  if (program_ == nullptr) {
    return;
  }
  layout::RunWalk from(program_->source);
  layout::RunWalk to(program_->destination);
  std::int64_t from_done = 0;
  std::int64_t to_done = 0;
  while (!to.is_done()) {
    const std::int64_t bytes = std::min(from.run().bytes - from_done, to.run().bytes - to_done);
    std::memcpy(destination + to.run().offset + to_done, source + from.run().offset + from_done,
                static_cast<std::size_t>(bytes));
    from_done += bytes;
    to_done += bytes;
    if (from_done == from.run().bytes) {
      from.next();
      from_done = 0;
    }
    if (to_done == to.run().bytes) {
      to.next();
      to_done = 0;
    }
  }
}

std::int64_t Mover::bytes() const noexcept {
  return program_ ? program_->source.bytes() : 0;
}

std::string Mover::describe() const {
  return fmt::format("{} bytes, run by run", bytes());
}

void finish_streaming() noexcept {}

}  // namespace penstock::mover
