// Chooses grid and grain where the options leave them open: by the model of the machine, or by measuring.
#pragma once

#include <vector>

#include "penstock/fft/problem.hpp"

namespace penstock::fft {

/// The transform for the model, but for the way that is chosen. Collective. What messages between nodes reach is asked
/// of the team where the machine does not tell it.
ModelledRun model_of(const gas::Team& team, const Problem& problem);

/// The problem's modelled run in the way of a candidate.
model::PlannedFft run_of(const Problem& problem, const Candidate& candidate, bool is_plane_in_cache);

/// The ways that the options leave open, best first by the model, or by rules where the machine's figures do not
/// suffice; the same on every rank. Collective. `problem` has its modelled run.
std::vector<Candidate> list_candidates(const gas::Team& team, const Problem& problem);

/// How messages travel, by what the team's network reaches. Collective.
gas::Carrier choose_carrier(const gas::Team& team, const Problem& problem);

/// Collective: whether a thread is to look after the network.
bool choose_progress_thread(const gas::Team& team, const Problem& problem);

/// Makes plans of the best few candidates and times them, best first afterwards; what `options.choices` knows is not
/// measured again. Collective. `problem` is what it is known by.
template <class Real>
std::vector<Candidate> measure_candidates(const gas::Team& team, const Options& options, const std::string& problem,
                                          std::vector<Candidate> candidates);

}  // namespace penstock::fft
