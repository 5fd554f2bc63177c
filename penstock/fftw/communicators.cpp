#include "penstock/fftw/communicators.hpp"

#include <cstdlib>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "penstock/base/base.hpp"

namespace penstock::fftw {
namespace {

/// A team, and the plans that were made over it and are still held.
struct Communicator {
  gas::Team team;
  std::map<std::string, std::weak_ptr<SharedPlan>> plans;

  explicit Communicator(gas::Team the_team) : team(std::move(the_team)) {}

  /// The plan of an equal request, where there is one.
  std::shared_ptr<SharedPlan> find(const std::string& key) {
    const auto found = plans.find(key);
    return found == plans.end() ? nullptr : found->second.lock();
  }
  std::shared_ptr<SharedPlan> make(const std::string& key, const Request& request) {
    std::shared_ptr<SharedPlan> plan = make_plan(team, request);
    std::erase_if(plans, [](const auto& entry) { return entry.second.expired(); });
    plans[key] = plan;
    return plan;
  }
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
      MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
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

  int world_rank() const noexcept { return world_rank_; }

 private:
  static int end_one(MPI_Comm, int, void* one, void*) {
    get().all_.remove_if([&](const Communicator& entry) { return &entry == one; });
    return MPI_SUCCESS;
  }
  static int end_all(MPI_Comm, int, void* all, void*) {
    static_cast<Communicators*>(all)->all_.clear();
    return MPI_SUCCESS;
  }

  std::list<Communicator> all_;
  int key_ = MPI_KEYVAL_INVALID;
  int world_rank_ = 0;
};

}  // namespace

std::shared_ptr<SharedPlan> plan_over(MPI_Comm communicator, const Request& request) {
  Communicator& known = Communicators::get().of(communicator);
  const std::string key = request.key();
  std::shared_ptr<SharedPlan> plan = known.find(key);
  // Ranks may have destroyed their plans of it at different times.
  return known.team.all_of(plan != nullptr) ? plan : known.make(key, request);
}

std::shared_ptr<SharedPlan> plan_alone(const Request& request) {
  static std::mutex mutex;
  static Communicator& alone = *std::make_unique<Communicator>(gas::world_alone()).release();
  const std::lock_guard lock(mutex);
  const std::string key = request.key();
  std::shared_ptr<SharedPlan> plan = alone.find(key);
  return plan != nullptr ? plan : alone.make(key, request);
}

bool is_spokesman() noexcept {
  return Communicators::get().world_rank() == 0;
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
