// Where in a volume is a part of it, turned and shifted? mpirun -n 2 ./find_part [SCAN.nii.gz [PICTURE.png]]
//
// For each angle the part is turned back and compared with the volume at all shifts at once: the sum of squared
// differences is that of the volume's squares under the part, a correlation with the part's mask, less twice the
// correlation with the part. Correlations are convolutions with fields whose spectra are conjugated. The scan is read
// as any format that Penstock reads, each rank its points; without one, blobs are made up.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numbers>
#include <penstock/fft/fft.hpp>
#include <penstock/field/field.hpp>
#include <penstock/gas/gas.hpp>
#include <string>
#include <vector>

#include "picture.hpp"

namespace {

using Complex = std::complex<double>;
using penstock::fft::Extents;
using penstock::fft::Plan;
using penstock::gas::Team;
using std::numbers::pi;

constexpr Extents part_size{40, 44, 20};
constexpr std::int64_t angle_step = 15;  // degrees, about z
constexpr std::int64_t true_angle = 60;

struct Place {
  double difference = std::numeric_limits<double>::infinity();  // mean of squares over the part
  std::int64_t angle = 0;
  Extents centre{};
};

/// A volume of blobs, where there is no scan.
class Blobs final : public penstock::field::Source {
 public:
  static constexpr Extents size{96, 108, 60};
  void fill(const penstock::fft::Box& box, int, std::span<float> numbers) const override { fill_as(box, numbers); }
  void fill(const penstock::fft::Box& box, int, std::span<double> numbers) const override { fill_as(box, numbers); }

 private:
  template <class Real>
  static void fill_as(const penstock::fft::Box& box, std::span<Real> numbers) {
    std::size_t i = 0;
    for (std::int64_t z = box.lower[2]; z < box.lower[2] + box.extent[2]; ++z) {
      for (std::int64_t y = box.lower[1]; y < box.lower[1] + box.extent[1]; ++y) {
        for (std::int64_t x = box.lower[0]; x < box.lower[0] + box.extent[0]; ++x) {
          double value = 0;
          for (int blob = 0; blob < 40; ++blob) {
            const auto at = [&](int factor, std::int64_t n) { return (blob * factor + 17) % n; };
            const double r =
                std::hypot(static_cast<double>(x - at(37, size[0])), static_cast<double>(y - at(53, size[1])),
                           static_cast<double>(z - at(29, size[2])));
            value += std::exp(-r * r / (20.0 + blob));
          }
          numbers[i++] = static_cast<Real>(100 * value);
        }
      }
    }
  }
};

/// What is looked for: a box of the volume around `centre`, turned about z by `true_angle`, between its points by
/// linear interpolation. Every rank reads what it needs of the scan.
class Part {
 public:
  /// Collective: throws penstock::Error on every rank where one cannot read.
  Part(const Team& team, const penstock::field::Source& scan, const Extents& scan_size) {
    for (std::size_t d = 0; d < 3; ++d) {
      centre_[d] = scan_size[d] * 9 / 20;
    }
    const std::int64_t reach = 40;  // more than half the diagonal of a plane of the part
    penstock::fft::Box box;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t half = d == 2 ? part_size[2] / 2 : reach;
      box.lower[d] = std::max<std::int64_t>(centre_[d] - half, 0);
      box.extent[d] = std::min(centre_[d] + half + 1, scan_size[d]) - box.lower[d];
    }
    around_ = box;
    values_.resize(static_cast<std::size_t>(box.count()));
    team.together([&] { scan.fill(box, 0, std::span(values_)); });
  }

  const Extents& centre() const { return centre_; }

  /// The part, turned back by `angle`, at (x, y, z) from its centre; false where the part has no such point.
  bool at(std::int64_t angle, double x, double y, std::int64_t z, double& value) const {
    const auto [u, v] = turn(-static_cast<double>(angle), x, y);  // in the part's own directions
    if (std::abs(u) > static_cast<double>(part_size[0]) / 2 || std::abs(v) > static_cast<double>(part_size[1]) / 2 ||
        std::abs(z) > part_size[2] / 2) {
      return false;
    }
    const auto [p, q] = turn(static_cast<double>(true_angle), u, v);
    value = between(static_cast<double>(centre_[0]) + p, static_cast<double>(centre_[1]) + q, centre_[2] + z);
    return true;
  }

 private:
  static std::array<double, 2> turn(double degrees, double x, double y) {
    const double angle = degrees * pi / 180;
    return {std::cos(angle) * x - std::sin(angle) * y, std::sin(angle) * x + std::cos(angle) * y};
  }

  double between(double x, double y, std::int64_t z) const {
    const double left = std::floor(x);
    const double below = std::floor(y);
    const auto value = [&](double at_x, double at_y) {
      const auto index = [&](std::size_t d, std::int64_t at) {
        return std::clamp<std::int64_t>(at - around_.lower[d], 0, around_.extent[d] - 1);
      };
      return values_[static_cast<std::size_t>((index(2, z) * around_.extent[1] + index(1, std::lround(at_y))) *
                                                  around_.extent[0] +
                                              index(0, std::lround(at_x)))];
    };
    const double s = x - left;
    const double t = y - below;
    return (1 - t) * ((1 - s) * value(left, below) + s * value(left + 1, below)) +
           t * ((1 - s) * value(left, below + 1) + s * value(left + 1, below + 1));
  }

  Extents centre_{};
  penstock::fft::Box around_;
  std::vector<double> values_;
};

/// Correlates fields with one volume, and with its squares.
class Search {
 public:
  Search(const Team& team, const penstock::field::Source& scan, const Extents& size)
      : team_(&team), size_(size), plan_(team, {.size = size, .type = penstock::fft::Type::r2c, .batch = 2}) {
    volume_ = make();
    team.together([&] { scan.fill(plan_.input().box, 0, std::span(volume_).first(points())); });
    for (std::size_t i = 0; i < points(); ++i) {
      volume_[stride() + i] = volume_[i] * volume_[i];
    }
    spectra_.resize(static_cast<std::size_t>(2 * plan_.output_stride()));
    plan_.forward(std::span<const double>(volume_), std::span(spectra_));
  }

  /// The best place of the part at this angle. Collective.
  Place best_at(const Part& part, std::int64_t angle) {
    // The part and its mask, their centres at point 0.
    std::vector<double> fields = make();
    double squares = 0;
    double count = 0;
    for_each_point([&](const Extents& point, std::size_t i) {
      Extents from_centre;
      for (std::size_t d = 0; d < 3; ++d) {
        from_centre[d] = penstock::fft::signed_wavenumber(point[d], size_[d]);
      }
      double value = 0;
      if (part.at(angle, static_cast<double>(from_centre[0]), static_cast<double>(from_centre[1]), from_centre[2],
                  value)) {
        fields[i] = value;
        fields[stride() + i] = 1;
        squares += value * value;
        count += 1;
      }
    });
    const std::array<double, 2> sums = sum({squares, count});
    std::vector<Complex> spectra(spectra_.size());
    plan_.forward(std::span<const double>(fields), std::span(spectra));
    for (std::size_t i = 0; i < spectra.size(); ++i) {
      spectra[i] = spectra_[i] * std::conj(spectra[i]);
    }
    plan_.backward(std::span<const Complex>(spectra), std::span(fields), penstock::fft::Scaling::full);
    Place mine{.angle = angle};
    for_each_point([&](const Extents& point, std::size_t i) {
      const double difference = (sums[0] - 2 * fields[i] + fields[stride() + i]) / sums[1];
      if (difference < mine.difference) {
        mine.difference = difference;
        mine.centre = point;
      }
    });
    const std::vector<Place> places = team_->all_gather(mine);
    return *std::ranges::min_element(places, {}, &Place::difference);
  }

  /// The plane z of the volume, on every rank; with the edges of the part drawn into it.
  std::vector<double> plane(std::int64_t z, const Part* marked, const Place& place) const {
    std::vector<double> values(static_cast<std::size_t>(size_[0] * size_[1]), -1e300);
    for_each_point([&](const Extents& point, std::size_t i) {
      if (point[2] == z) {
        double ignored = 0;
        const auto is_in = [&](std::int64_t dx, std::int64_t dy) {
          return marked != nullptr &&
                 marked->at(place.angle, static_cast<double>(point[0] + dx - place.centre[0]),
                            static_cast<double>(point[1] + dy - place.centre[1]), z - place.centre[2], ignored);
        };
        const bool is_edge = is_in(0, 0) && !(is_in(1, 0) && is_in(-1, 0) && is_in(0, 1) && is_in(0, -1));
        values[static_cast<std::size_t>(point[1] * size_[0] + point[0])] = is_edge ? 1e300 : volume_[i];
      }
    });
    double brightest = 0;
    picture::gather(*team_, values);
    for (const double value : values) {
      brightest = value < 1e300 ? std::max(brightest, value) : brightest;
    }
    std::ranges::replace(values, 1e300, 1.2 * brightest);
    return values;
  }

 private:
  std::size_t points() const { return static_cast<std::size_t>(plan_.input().box.count()); }
  std::size_t stride() const { return static_cast<std::size_t>(plan_.input_stride()); }
  std::vector<double> make() const { return std::vector<double>(2 * stride()); }

  std::array<double, 2> sum(const std::array<double, 2>& mine) const {
    std::array<double, 2> all{};
    for (const auto& part : team_->all_gather(mine)) {
      all[0] += part[0];
      all[1] += part[1];
    }
    return all;
  }

  template <class Visit>
  void for_each_point(const Visit& visit) const {
    const auto& [lower, extent] = plan_.input().box;
    for (std::int64_t z = lower[2]; z < lower[2] + extent[2]; ++z) {
      for (std::int64_t y = lower[1]; y < lower[1] + extent[1]; ++y) {
        for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
          visit(Extents{x, y, z}, static_cast<std::size_t>(plan_.input().position(x, y, z)));
        }
      }
    }
  }

  const Team* team_;
  Extents size_;
  Plan<double> plan_;
  std::vector<double> volume_;    // and its squares
  std::vector<Complex> spectra_;  // of both
};

bool run(const Team& team, const std::string& scan_path, const std::string& picture_path) {
  const Extents size = scan_path.empty() ? Blobs::size : penstock::field::inspect_file(team, scan_path).size;
  std::unique_ptr<penstock::field::Source> scan;
  team.together([&] { scan = scan_path.empty() ? std::make_unique<Blobs>() : penstock::field::open_file(scan_path); });
  const Part part(team, *scan, size);
  Search search(team, *scan, size);
  Place best;
  for (std::int64_t angle = 0; angle < 360; angle += angle_step) {
    const Place place = search.best_at(part, angle);
    if (place.difference < best.difference) {
      best = place;
    }
  }
  std::vector<picture::Panel> panels;
  if (!picture_path.empty()) {
    const auto columns = static_cast<std::size_t>(size[0]);
    panels = {{"the volume", search.plane(best.centre[2], nullptr, best), columns},
              {"the part, found", search.plane(best.centre[2], &part, best), columns}};
  }
  const bool is_right = best.angle == true_angle && best.centre == part.centre();
  if (team.rank() == 0) {
    std::printf("the part lies at (%lld, %lld, %lld), turned by %lld degrees: %s\n",
                static_cast<long long>(best.centre[0]), static_cast<long long>(best.centre[1]),
                static_cast<long long>(best.centre[2]), static_cast<long long>(best.angle),
                is_right ? "right" : "WRONG");
    if (!picture_path.empty()) {
      picture::draw(picture_path, panels);
    }
  }
  return is_right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool is_right = false;
  try {
    is_right = run(penstock::gas::world_of(MPI_COMM_WORLD), argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
  } catch (const penstock::Error& error) {
    std::fprintf(stderr, "find_part: %s\n", error.what());
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
