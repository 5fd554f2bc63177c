// How errors leave the C interface.
#pragma once

#include <exception>
#include <string>

#include "penstock/c/penstock.h"

namespace penstock::c {

/// Keeps the sentence for penstock_last_error.
void keep_error(const char* sentence) noexcept;

/// Runs `work`; what it throws becomes the status and the sentence.
template <class Work>
penstock_status status_of(const Work& work) noexcept {
  try {
    work();
    return PENSTOCK_OK;
  } catch (const std::exception& error) {
    keep_error(error.what());
  } catch (...) {
    keep_error("an exception that is none of the standard library's");
  }
  return PENSTOCK_ERROR;
}

}  // namespace penstock::c
