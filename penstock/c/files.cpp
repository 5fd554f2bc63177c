// Transforms of fields in files, larger than memory.
#include "penstock/fft/files/files.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "penstock/base/base.hpp"
#include "penstock/c/handles.hpp"
#include "penstock/c/options.hpp"
#include "penstock/c/status.hpp"

namespace fft = penstock::fft;
using penstock::c::status_of;

extern "C" {

void penstock_fft_file_options_init(penstock_fft_file_options* options, size_t struct_size) {
  penstock_fft_file_options defaults{};
  defaults.threads = 1;
  penstock::c::init_options(options, struct_size, defaults);
}

penstock_status penstock_fft_file(penstock_team* team, const char* input, const char* output,
                                  const penstock_fft_file_options* options) {
  return status_of([&] {
    fft::FileField field;
    fft::FileOptions how;
    team->team.together([&] {
      const auto given = penstock::c::known_options(options, penstock_fft_file_options_init);
      field = {.input = input,
               .output = output,
               .is_backward = given.is_backward != 0,
               .type = penstock::c::type_of(given.type),
               .nx = given.points_x,
               .scaling = penstock::c::scaling_of(given.scaling)};
      how.threads = given.threads;
      if (given.memory_bytes < 0 || input == nullptr || output == nullptr) {
        throw penstock::Error("less than no memory, or no path");
      }
      how.memory_bytes = given.memory_bytes > 0
                             ? given.memory_bytes
                             : static_cast<std::int64_t>(penstock::available_memory_bytes()) / 4 / team->team.size();
    });
    team->team.agree_on("transform of files", std::to_string(field.is_backward ? 1 : 0) + ", type " +
                                                  std::to_string(static_cast<int>(field.type)) + ", points " +
                                                  std::to_string(field.nx) + ", scaling " +
                                                  std::to_string(static_cast<int>(field.scaling)) + ", from " +
                                                  field.input + " to " + field.output);
    fft::FileTransform transform(team->team, field, how);
    transform.run();
  });
}
}
