#include "penstock/fftw/communicators.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"

namespace penstock::fftw {
namespace {

/// A team, and the plans that were made over it: those that are still held, and the last two, for programs that plan
/// anew for each transform.
class Communicator {
 public:
  explicit Communicator(gas::Team team) : team_(std::move(team)) {}

  /// Collective: a plan for the request, shared with an equal one where all ranks have the same.
  std::shared_ptr<SharedPlan> plan(const Request& request, bool may_share) {
    const std::string key = request.key();
    std::erase_if(plans_, [](const auto& entry) { return entry.second.plan.expired(); });
    const auto found = plans_.find(key);
    std::shared_ptr<SharedPlan> plan = found == plans_.end() || !may_share ? nullptr : found->second.plan.lock();
    // Ranks may have destroyed theirs at different times, and keys are of a rank's own part: what counts is the plan's
    // number, which all ranks give alike.
    const std::int64_t number = plan == nullptr ? 0 : found->second.number;
    const std::vector<std::int64_t> numbers = team_.all_gather(number);
    if (number == 0 || std::ranges::count(numbers, number) != std::ssize(numbers)) {
      plan = make_plan(team_, request);
      plans_[key] = {plan, ++last_number_};
    }
    if (kept_[0] != plan) {
      kept_[1] = std::exchange(kept_[0], plan);
    }
    return plan;
  }

 private:
  struct Made {
    std::weak_ptr<SharedPlan> plan;
    std::int64_t number = 0;
  };

  gas::Team team_;
  std::map<std::string, Made> plans_;
  std::int64_t last_number_ = 0;
  std::array<std::shared_ptr<SharedPlan>, 2> kept_;  // the last one first
};

/// All of them, in the order in which they were made. There is one object in a process, as there is one MPI.
class Communicators {
 public:
  static Communicators& get() {
    static Communicators& all = *std::make_unique<Communicators>().release();  // MPI's end ends it
    return all;
  }

  /// Collective over `communicator`. Its team is kept in an attribute, so that it ends with the communicator.
  Communicator& of(MPI_Comm communicator) {
    if (key_ == MPI_KEYVAL_INVALID) {
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_one, &key_, nullptr);
      // MPI_Finalize begins by deleting what is attached to MPI_COMM_SELF: the last moment at which teams can end.
      int last = MPI_KEYVAL_INVALID;
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_all, &last, nullptr);
      MPI_Comm_set_attr(MPI_COMM_SELF, last, this);
      MPI_Comm_free_keyval(&last);
    }
    void* known = nullptr;
    int is_known = 0;
    MPI_Comm_get_attr(communicator, key_, static_cast<void*>(&known), &is_known);
    if (is_known == 0) {
      known = &all_.emplace_back(gas::world_of(communicator));
      MPI_Comm_set_attr(communicator, key_, known);
    }
    return *static_cast<Communicator*>(known);
  }

 private:
  static int end_one(MPI_Comm, int, void* one, void*) {
    get().all_.remove_if([&](const Communicator& entry) { return &entry == one; });
    return MPI_SUCCESS;
  }
  static int end_all(MPI_Comm, int, void* all, void*) {
    end_plans_over_ranks();
    static_cast<Communicators*>(all)->all_.clear();
    return MPI_SUCCESS;
  }

  std::list<Communicator> all_;
  int key_ = MPI_KEYVAL_INVALID;
};

}  // namespace

std::shared_ptr<SharedPlan> plan_over(MPI_Comm communicator, const Request& request) {
  // Threads may run plans of one communicator in any order, if they are not one plan.
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return Communicators::get().of(communicator).plan(request, level != MPI_THREAD_MULTIPLE);
}

std::shared_ptr<SharedPlan> plan_alone(const Request& request) {
  static std::mutex mutex;
  static Communicator& alone = *std::make_unique<Communicator>(gas::world_alone()).release();
  const std::lock_guard lock(mutex);
  return alone.plan(request, true);
}

bool is_spokesman() noexcept {
  int is_initialised = 0;
  int is_finalised = 0;
  MPI_Initialized(&is_initialised);
  MPI_Finalized(&is_finalised);
  int rank = 0;
  if (is_initialised != 0 && is_finalised == 0) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  }
  return rank == 0;
}

void end_all_ranks() noexcept {
  int is_initialised = 0;
  int is_finalised = 0;
  MPI_Initialized(&is_initialised);
  MPI_Finalized(&is_finalised);
  if (is_initialised != 0 && is_finalised == 0) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  std::abort();
}

}  // namespace penstock::fftw
