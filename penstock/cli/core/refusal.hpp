// What the command says of arguments that it does not know, with the name that was likely meant.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace penstock::cli {

/// One sentence on why `app`, which has just parsed, refused its arguments: the first argument that it does not know,
/// and the option or subcommand whose name is nearest, if one is near; the subcommands, of which one is missing; or
/// what `error` says. It names the help that lists them.
std::string refusal(const CLI::App& app, const CLI::ParseError& error);

}  // namespace penstock::cli
