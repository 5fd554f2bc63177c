// Work on files that goes on where an earlier run of it was killed, in the order of reading:
//
// - checksum.hpp: what tells that bytes are those that were written, or a file the one that was read
// - journal_file.hpp: what is done, line by line
// - resumable_file.hpp: a result that is made in pieces, with its journal
#pragma once

#include "penstock/journal/checksum.hpp"
#include "penstock/journal/journal_file.hpp"
#include "penstock/journal/resumable_file.hpp"
