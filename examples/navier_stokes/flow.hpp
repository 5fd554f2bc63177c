// The flows that a run begins with, and what is known of them: an exact solution, or the first terms of a series.
#pragma once

#include <array>

namespace navier_stokes {

using Vector = std::array<double, 3>;

/// All have the period 2 pi in x, y and z, and speeds and lengths of about 1, so that the viscosity is 1 / Reynolds
/// number.
enum class Flow {
  vortex_3d,  ///< Taylor & Green's of 1937: u = (sin x cos y cos z, -cos x sin y cos z, 0). It breaks up
  vortex_2d,  ///< the plane one, carried by a steady wind: it decays and does nothing else
};

/// The velocity at time 0.
Vector first_velocity(Flow flow, const Vector& point);

/// Of vortex_2d at any time: the vortex decays as exp(-2 t / Reynolds number), and the wind carries it.
Vector exact_velocity_2d(double reynolds, double time, const Vector& point);

/// Of vortex_3d in its first time, the mean of |curl u|^2 / 2: the series in t, up to t^5, by which Taylor and Green
/// found that small eddies are made of large ones (Proc. R. Soc. A 158, 1937: their mean rate of dissipation).
double enstrophy_3d(double reynolds, double time);

/// How far `enstrophy_3d` may be from the truth while time is below 1/2: what its next term can be at most, twice.
double enstrophy_3d_error(double reynolds, double time);

}  // namespace navier_stokes
