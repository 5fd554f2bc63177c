// What comes before a datatype's first use: commit, description, compilation.
#pragma once

#include "penstock/lab/pack/pack.hpp"
#include "penstock/lab/pack/pack_cases.hpp"

namespace penstock::lab {

/// The costs of a case for one operation, with the origins of the type's and of the packed bytes given for the first
/// use. Medians of up to 100 repetitions, of at least 5 where one takes long.
PackCosts measure_costs(const PackCase& pack_case, PackOperation operation, std::byte* array, std::byte* packed);

}  // namespace penstock::lab
