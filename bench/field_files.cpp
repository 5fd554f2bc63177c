// Do ranks write a field at the disk's rate? Files of each format, brought to the disk, beside dd on rank 0: in the
// same run, repetitions interleaved.
//
// usage: field_files [FOLDER] [SIZE] [REPETITIONS]
// for example: mpirun -n 2 field_files /scratch 512 5
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/field/field.hpp"
#include "penstock/gas/gas.hpp"

namespace {

using penstock::gas::Team;

void run(const Team& team, const std::string& folder, std::int64_t n, int repetitions) {
  const penstock::fft::Extents size{n, n, n};
  penstock::fft::Distribution part{.box = {{0, 0, n * team.rank() / team.size()}, size}};
  part.box.extent[2] = n * (team.rank() + 1) / team.size() - part.box.lower[2];
  std::vector<double> field(static_cast<std::size_t>(2 * part.box.count()));
  for (std::size_t i = 0; i < field.size(); ++i) {
    field[i] = static_cast<double>(i);
  }
  const double bytes = 16.0 * static_cast<double>(n * n * n);
  const auto write = [&](const std::string& name) {
    penstock::field::OutputFile file(team, folder + "/" + name, penstock::npy::DataType::complex128, size);
    file.write(part, std::as_bytes(std::span<const double>(field)));
    file.commit();
  };
  const auto run_dd = [&] {
    team.together([&] {
      if (team.rank() != 0) {
        return;
      }
      const std::string command = fmt::format("dd if=/dev/zero of='{}/dd' bs=1M count={} conv=fsync status=none",
                                              folder, static_cast<std::int64_t>(bytes) >> 20);
      if (std::system(command.c_str()) != 0) {
        throw penstock::Error("dd has failed");
      }
    });
  };
  const std::vector<std::string> names{"field.npy", "field.nii", "field.h5"};
  std::vector<std::vector<double>> times(names.size() + 1);
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    times.back().push_back(penstock::gas::time_together(team, run_dd));
    for (std::size_t i = 0; i < names.size(); ++i) {
      team.together([&] {
        if (team.rank() == 0) {
          std::filesystem::remove(folder + "/dd");
          for (const std::string& name : names) {
            std::filesystem::remove(folder + "/" + name);
          }
        }
      });
      times[i].push_back(penstock::gas::time_together(team, [&] { write(names[i]); }));
    }
  }
  if (team.rank() == 0) {
    std::ranges::for_each(times, [](std::vector<double>& of_one) { std::ranges::sort(of_one); });
    for (std::size_t i = 0; i <= names.size(); ++i) {
      fmt::print("{:10} {:7.0f} MB/s, median {:7.0f}; of dd's {:.2f}, median {:.2f}\n",
                 i < names.size() ? names[i] : "dd", bytes / times[i].front() * 1e-6,
                 bytes / times[i][times[i].size() / 2] * 1e-6, times.back().front() / times[i].front(),
                 times.back()[times.back().size() / 2] / times[i][times[i].size() / 2]);
      std::filesystem::remove(folder + "/" + (i < names.size() ? names[i] : "dd"));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    run(penstock::gas::world_of(MPI_COMM_WORLD), argc > 1 ? argv[1] : ".", argc > 2 ? std::atoi(argv[2]) : 512,
        argc > 3 ? std::atoi(argv[3]) : 5);
  } catch (const penstock::Error& error) {
    fmt::print(stderr, "field_files: {}\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
