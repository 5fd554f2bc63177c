// Chooses the tuning of exchanges where the options leave it open: by the model of the machine, or by measuring.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "penstock/fft/problem.hpp"

namespace penstock::fft {

/// The transform for the model, but for its tuning; nothing where the model does not know such transforms. Collective:
/// what messages between nodes reach is measured where the machine does not tell it.
std::optional<ModelledRun> model_of(const gas::Team& team, const Problem& problem);

/// The modelled run with a tuning.
model::PlannedFft run_of(const ModelledRun& modelled, const Tuning& tuning, bool is_plane_in_cache);

/// The tunings that the options leave open, best first by the model, or by rules where the machine's figures do not
/// suffice; the same on every rank. Collective. `problem` has its modelled run.
std::vector<Candidate> list_candidates(const gas::Team& team, const Problem& problem);

/// How messages travel, by what the team's network reaches. Collective.
gas::Carrier choose_carrier(const gas::Team& team, const Problem& problem);

/// Collective: whether a progress thread is to poll the network.
bool choose_progress_thread(const gas::Team& team, const Problem& problem);

/// Makes plans of the candidates, as many as the planning budget allows, and times them: best first afterwards. What
/// `options.wisdom` knows is not measured again. Collective. `problem` is what it is known by.
template <class Real>
std::vector<Candidate> measure_candidates(const gas::Team& team, const Options& options, const std::string& problem,
                                          std::vector<Candidate> candidates);

}  // namespace penstock::fft
