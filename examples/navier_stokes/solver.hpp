// Steps of the incompressible Navier-Stokes equations on a periodic cube, by Fourier modes.
#pragma once

#include <cstdint>
#include <functional>
#include <penstock/base/thread_pool.hpp>
#include <penstock/gas/gas.hpp>
#include <vector>

#include "flow.hpp"
#include "modes.hpp"
#include "parameters.hpp"
#include "transforms.hpp"

namespace navier_stokes {

/// What is known of the flow after a step: means over the cube.
struct Sample {
  double energy;      ///< |u|^2 / 2
  double enstrophy;   ///< |curl u|^2 / 2; energy turns to heat at the rate 2 / Reynolds number times this
  double dissipated;  ///< the energy that has turned to heat so far, by the same Runge-Kutta formula as the velocity
};

/// The velocity of a flow and how it goes on: du/dt = P(u x curl u) + nu laplacian(u) on [0, 2 pi)^3, where P takes
/// away what the pressure does. In Fourier modes, without aliases by the 3/2 rule, by the classic Runge-Kutta method of
/// order 4, with nine transforms to each of its four stages.
///
/// Its members are collective over the team, which outlives it, unless said otherwise.
class Solver {
 public:
  /// Throws penstock::Error on every rank where there is no memory for so many points.
  Solver(const penstock::gas::Team& team, const Parameters& parameters, int threads, penstock::fft::Effort effort);

  /// Begins with a velocity, but for modes beyond those that are kept and what is not free of divergence.
  Sample begin(const std::function<Vector(const Vector& point)>& velocity);
  /// Begins with what has been put into `velocity()`. Local.
  void begin_again();
  /// The sample after `now`, one dt later.
  Sample step(const Sample& now);
  /// How far the velocity is from another one, in the component and at the point where it is farthest.
  double largest_difference(const std::function<Vector(const Vector& point)>& velocity);

  /// The spectrum of the velocity, and which modes this rank has of it. Local.
  VectorField& velocity() { return fields_.velocity; }
  const Modes& modes() const { return modes_; }
  /// Local.
  const Transforms& transforms() const { return transforms_; }

 private:
  struct Fields {
    VectorField velocity;   // spectra: of a step's begin,
    VectorField stage;      // of where the stage looks,
    VectorField end;        // and of what the stages so far have made of the step's end
    VectorField at_points;  // the stage's velocity
    VectorField product;    // the stage's curl, then u x curl u; as spectrum and at the points
  };
  struct Energies {
    double energy = 0;
    double enstrophy = 0;
  };
  static Fields make_fields(const penstock::gas::Team& team, const Transforms& transforms);
  void find_curl();
  void find_product();
  Energies advance(std::size_t stage);
  Energies energies_of(const VectorField& field, const Modes::Row& row) const;
  Energies sum_of_rows() const;
  /// Shares `items` out to the threads.
  template <class Work>
  void for_each(std::size_t items, const Work& work);

  const penstock::gas::Team& team_;
  std::int64_t n_;
  double nu_;
  double dt_;
  Transforms transforms_;
  Modes modes_;
  penstock::ThreadPool pool_;
  Fields fields_;
  std::vector<Energies> of_rows_;
};

}  // namespace navier_stokes
