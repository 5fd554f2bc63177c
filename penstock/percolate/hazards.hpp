// Which operation must wait for which: the hazards of a program's order, kept for each slot. Private to the module.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace penstock::percolate {

/// Something that is done in one go: an arrival, or the body of a parcel (its work and what it sends outward).
struct Operation {
  int blockers = 0;  ///< operations to be done before it
  bool is_done = false;
  std::vector<std::shared_ptr<Operation>> successors;
  std::uint64_t event = 0;  ///< the id of its last event in a timeline
  virtual ~Operation() = default;
};

using OperationPointer = std::shared_ptr<Operation>;

/// Makes `later` wait for `earlier`, where that is still to be done.
inline void wait_for(const OperationPointer& later, const OperationPointer& earlier) {
  if (earlier && !earlier->is_done && earlier != later) {
    earlier->successors.push_back(later);
    ++later->blockers;
  }
}

/// The operations of one slot that later ones have to mind. They are entered in the order of the program.
class SlotHistory {
 public:
  void use(const OperationPointer& operation) {
    wait_for(operation, changer_);
    std::erase_if(users_, [](const OperationPointer& user) { return user->is_done; });
    users_.push_back(operation);
  }

  void change(const OperationPointer& operation) {
    wait_for(operation, changer_);
    for (const OperationPointer& user : users_) {
      wait_for(operation, user);
    }
    users_.clear();
    changer_ = operation;
  }

 private:
  OperationPointer changer_;             // the last
  std::vector<OperationPointer> users_;  // since then
};

}  // namespace penstock::percolate
