#include "penstock/cli/report/pages.hpp"

#include "penstock/base/config.hpp"

#if PENSTOCK_HAS_PAGES
// A file's bytes, and a symbol at either end.
#define PENSTOCK_PAGE(name, file)                        \
  asm(".section .rodata\n"                               \
      ".global " #name "\n.global " #name "_end\n" #name \
      ":\n"                                              \
      ".incbin \"" file "\"\n" #name                     \
      "_end:\n"                                          \
      ".previous\n");                                    \
  extern "C" const char name;                            \
  extern "C" const char name##_end

PENSTOCK_PAGE(penstock_explore_page, PENSTOCK_PAGES "/explore.html");
PENSTOCK_PAGE(penstock_report_page, PENSTOCK_PAGES "/report.html");
#endif

namespace penstock::cli {

#if PENSTOCK_HAS_PAGES
std::string_view explore_page() noexcept {
  return {&penstock_explore_page, &penstock_explore_page_end};
}
std::string_view report_page() noexcept {
  return {&penstock_report_page, &penstock_report_page_end};
}
#else
std::string_view explore_page() noexcept {
  return {};
}
std::string_view report_page() noexcept {
  return {};
}
#endif

}  // namespace penstock::cli
