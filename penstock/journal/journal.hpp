// Work on files that resumes where an earlier run of it was killed. The headers in the order of reading:
//
// - fingerprint.hpp: whether a file has changed since an earlier run
// - journal_file.hpp: which pieces are complete, line by line
// - resumable_file.hpp: a result that is made in pieces, with its journal
#pragma once

#include "penstock/journal/fingerprint.hpp"
#include "penstock/journal/journal_file.hpp"
#include "penstock/journal/resumable_file.hpp"
