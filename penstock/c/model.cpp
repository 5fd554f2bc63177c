// Models of machines.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/config.hpp"
#include "penstock/c/status.hpp"

#if PENSTOCK_HAS_STUDY
#include "penstock/study/study.hpp"
#endif

namespace {

thread_local std::string last_answer;

}  // namespace

extern "C" {

penstock_status penstock_model([[maybe_unused]] const char* model, [[maybe_unused]] const char* const* arguments,
                               [[maybe_unused]] size_t count, [[maybe_unused]] const char** json) {
  return penstock::c::status_of([&] {
#if PENSTOCK_HAS_STUDY
    if (model == nullptr || (arguments == nullptr && count > 0)) {
      throw penstock::Error("no model, or no arguments: it is NULL");
    }
    const std::span given(arguments, count);
    last_answer = penstock::study::json_of(model, std::vector<std::string>(given.begin(), given.end()));
    *json = last_answer.c_str();
#else
    throw penstock::Error("this build has no nlohmann-json, and so no models");
#endif
  });
}
}
