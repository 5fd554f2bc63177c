// A temporary folder that all ranks of a test use.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "penstock/gas/gas.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::field {

/// Made by rank 0 and removed by it; construction and destruction are collective.
class SharedFolder {
 public:
  explicit SharedFolder(const gas::Team& team) : team_(team) {
    std::array<char, 256> path{};
    if (team.rank() == 0) {
      folder_.emplace();
      (*folder_ / "").copy(path.data(), path.size() - 1);
    }
    path_ = team.all_gather(path).front().data();
  }
  ~SharedFolder() { team_.barrier(); }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + name; }

 private:
  const gas::Team& team_;
  std::optional<TemporaryFolder> folder_;
  std::string path_;
};

}  // namespace penstock::field
