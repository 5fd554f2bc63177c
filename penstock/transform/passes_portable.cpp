// The passes in vectors of 16 bytes, which every 64-bit processor has: SSE2, NEON.
#include "penstock/transform/pass_bodies.hpp"
#include "penstock/transform/pass_tables.hpp"

namespace penstock::transform {
namespace {

struct Double {
  using Real = double;
  using Vector = double __attribute__((vector_size(16)));
  static constexpr int lanes = 2;
  static void stream(std::byte* to, Vector value) { std::memcpy(to, &value, sizeof(value)); }
};

struct Single {
  using Real = float;
  using Vector = float __attribute__((vector_size(16)));
  static constexpr int lanes = 4;
  static void stream(std::byte* to, Vector value) { std::memcpy(to, &value, sizeof(value)); }
};

#if defined(__aarch64__)
constexpr int registers = 32;
#else
constexpr int registers = 16;
#endif

}  // namespace

constinit const PassTable<double> portable_double = pass_table<Double, Double>("portable", registers);
constinit const PassTable<float> portable_single = pass_table<Single, Single>("portable", registers);

}  // namespace penstock::transform
