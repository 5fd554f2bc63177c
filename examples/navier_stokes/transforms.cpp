#include "transforms.hpp"

namespace navier_stokes {

Transforms::Transforms(const penstock::gas::Team& team, std::int64_t n, int threads, penstock::fft::Effort effort)
    : plan_(team,
            {.size = {n, n, n}, .type = penstock::fft::Type::r2c, .threads = threads, .batch = 3, .effort = effort}) {}

std::size_t Transforms::field_bytes() const {
  return 3 * static_cast<std::size_t>(plan_.input_stride()) * sizeof(double);
}

VectorField Transforms::make_field() const {
  return VectorField(field_bytes() / 3, static_cast<std::size_t>(points().box.count()),
                     static_cast<std::size_t>(modes().box.count()));
}

void Transforms::to_space(const VectorField& spectrum, VectorField& space) {
  plan_.backward(spectrum.spectrum(), space.space());
  spent_.add(plan_.last_breakdown());
}

void Transforms::to_spectrum(VectorField& field) {
  plan_.forward(field.space(), field.spectrum(), penstock::fft::Scaling::full);
  spent_.add(plan_.last_breakdown());
}

}  // namespace navier_stokes
