// cuFFT as a peer: opened at run time, so that this is built without CUDA. Names and numbers are those of NVIDIA's
// documentation of cuFFT and of CUDA's runtime.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

#include "bench/device_peers.hpp"
#include "penstock/base/base.hpp"

namespace penstock::bench {
namespace {

void* open_first(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_GLOBAL); library != nullptr) {
      return library;
    }
  }
  return nullptr;
}

class Cufft final : public DevicePeer {
 public:
  Cufft(void* library, void* driver, const device::Location& field, std::int64_t n, std::int64_t real_bytes)
      : field_(reinterpret_cast<void*>(field.handle + field.offset)), is_double_(real_bytes == 8) {
    const auto find = [&](auto& function, void* from, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(from, name));
      if (function == nullptr) {
        throw Error(fmt::format("cuFFT has no {}", name));
      }
    };
    int (*make_plan)(int*, int, int, int, int) = nullptr;
    find(make_plan, library, "cufftPlan3d");
    find(double_, library, "cufftExecZ2Z");
    find(single_, library, "cufftExecC2C");
    find(destroy_, library, "cufftDestroy");
    find(synchronize_, driver, "cuCtxSynchronize");
    const int side = static_cast<int>(n);
    constexpr int z2z = 0x69;
    constexpr int c2c = 0x29;
    check(make_plan(&plan_, side, side, side, is_double_ ? z2z : c2c), "cufftPlan3d");
  }
  ~Cufft() override { destroy_(plan_); }
  Cufft(const Cufft&) = delete;
  Cufft& operator=(const Cufft&) = delete;

  std::string name() const override { return "cuFFT, in place"; }
  void run() override {
    constexpr int forward = -1;
    check(is_double_ ? double_(plan_, field_, field_, forward) : single_(plan_, field_, field_, forward), "cufftExec");
    check(synchronize_(), "cuCtxSynchronize");
  }

 private:
  static void check(int result, const char* what) {
    if (result != 0) {
      throw Error(fmt::format("{} failed: {}", what, result));
    }
  }

  void* field_;
  bool is_double_;
  int plan_ = 0;
  int (*double_)(int, void*, void*, int) = nullptr;
  int (*single_)(int, void*, void*, int) = nullptr;
  int (*destroy_)(int) = nullptr;
  int (*synchronize_)() = nullptr;
};

}  // namespace

std::unique_ptr<DevicePeer> cufft_peer(const device::Location& field, std::int64_t n, std::int64_t real_bytes) {
  void* const library = open_first(
      {"libcufft.so", "libcufft.so.12", "libcufft.so.11", "libcufft.so.10", "/usr/local/cuda/lib64/libcufft.so"});
  void* const driver = open_first({"libcuda.so.1"});
  return library == nullptr || driver == nullptr ? nullptr
                                                 : std::make_unique<Cufft>(library, driver, field, n, real_bytes);
}

}  // namespace penstock::bench
