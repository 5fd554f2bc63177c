// CUDA's run-time compiler as far as Penstock calls it: what it returns as PTX is the source, which the imitated driver
// compiles. A source that has no kernel is refused.
#include <cstddef>
#include <cstring>
#include <string>

namespace {

struct Program {
  std::string source;
  std::string log;
};

}  // namespace

extern "C" {

int nvrtcCreateProgram(Program** program, const char* source, const char* /*name*/, int /*headers*/,
                       const char* const* /*contents*/, const char* const* /*names*/) {
  *program = new Program{source, {}};
  return 0;
}

int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return 0;
}

int nvrtcCompileProgram(Program* program, int options, const char* const* option) {
  if (options != 1 || std::strncmp(option[0], "--gpu-architecture=compute_", 27) != 0) {
    program->log = "an architecture is to be named";
    return 1;
  }
  if (program->source.find("\nKERNEL(") == std::string::npos) {
    program->log = "there is no kernel";
    return 6;
  }
  return 0;
}

int nvrtcGetProgramLogSize(Program* program, std::size_t* bytes) {
  *bytes = program->log.size() + 1;
  return 0;
}

int nvrtcGetProgramLog(Program* program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}

int nvrtcGetPTXSize(Program* program, std::size_t* bytes) {
  *bytes = program->source.size() + 1;
  return 0;
}

int nvrtcGetPTX(Program* program, char* ptx) {
  std::memcpy(ptx, program->source.c_str(), program->source.size() + 1);
  return 0;
}
}
