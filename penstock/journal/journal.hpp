// Work on files that goes on where an earlier run of it was killed, in the order of reading:
//
// - fingerprint.hpp: whether a file is the one that was read
// - journal_file.hpp: what is done, line by line
// - resumable_file.hpp: a result that is made in pieces, with its journal
#pragma once

#include "penstock/journal/fingerprint.hpp"
#include "penstock/journal/journal_file.hpp"
#include "penstock/journal/resumable_file.hpp"
