// The schedule of a plan, walked as Pipeline walks it: computing is simulated time, messages have no data.
#include <mpi.h>
#include <smpi/smpi.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <simgrid/s4u.hpp>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/problem.hpp"
#include "penstock/fft/schedule.hpp"
#include "penstock/gas/transport/mpi/mpi_messages.hpp"
#include "run.hpp"

namespace penstock::simulate {
namespace {

/// The messages of one exchange on one rank.
class Messages {
 public:
  /// `gap_bytes` are what a message's gap holds a link for; `data` is memory for any of them.
  Messages(MPI_Comm comm, const fft::ExchangePlan& plan, int number, std::size_t gap_bytes, void* data)
      : comm_(comm), plan_(plan), number_(number), gap_bytes_(gap_bytes), data_(data) {
    gas::check_mpi(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
    std::map<int, int> so_far;
    for (const gas::Outgoing& message : plan.outgoing) {
      tags_.push_back(tag(so_far[message.peer]++));
    }
    so_far.clear();
    for (const gas::Incoming& message : plan.incoming) {
      MPI_Request& request = receives_.emplace_back(MPI_REQUEST_NULL);
      const int tag_of_it = tag(so_far[message.peer]++);
      if (message.peer != rank_) {
        gas::check_mpi(MPI_Irecv(data_, bytes(message.bytes), MPI_BYTE, message.peer, tag_of_it, comm_, &request),
                       "MPI_Irecv");
      }
    }
  }

  /// Whether outgoing message `message` is one that is sent.
  bool is_sent(std::size_t message) const { return plan_.outgoing[message].peer != rank_; }

  void send(std::size_t message) {
    const gas::Outgoing& out = plan_.outgoing[message];
    gas::check_mpi(MPI_Isend(data_, bytes(out.bytes), MPI_BYTE, out.peer, tags_[message], comm_,
                             &sends_.emplace_back(MPI_REQUEST_NULL)),
                   "MPI_Isend");
  }
  void wait(std::size_t message) { gas::check_mpi(MPI_Wait(&receives_[message], MPI_STATUS_IGNORE), "MPI_Wait"); }
  void finish() {
    for (MPI_Request& send : sends_) {
      gas::check_mpi(MPI_Wait(&send, MPI_STATUS_IGNORE), "MPI_Wait");
    }
  }

 private:
  int tag(int message) const { return 2 * message + number_; }
  int bytes(std::size_t message) const { return static_cast<int>(message + gap_bytes_); }

  MPI_Comm comm_;
  const fft::ExchangePlan& plan_;
  int number_;
  int rank_ = 0;
  std::size_t gap_bytes_;
  void* data_;
  std::vector<int> tags_;
  std::vector<MPI_Request> receives_;
  std::vector<MPI_Request> sends_;
};

/// Simulated time that is still to pass: tiles' is added up until somebody could see it, and it is longer than times
/// that are told apart.
class Computing {
 public:
  explicit Computing(double resolution_s) : resolution_s_(resolution_s) {}
  void add(double s) { due_s_ += s; }
  void pass() {
    if (due_s_ > resolution_s_) {
      pass_all();
    }
  }
  void pass_all() {
    simgrid::s4u::this_actor::sleep_for(due_s_);
    due_s_ = 0;
  }

 private:
  double resolution_s_;
  double due_s_ = 0;
};

/// The most bytes of a message.
std::size_t longest(const fft::Schedule& schedule) {
  std::size_t bytes = 0;
  for (const fft::ExchangePlan& exchange : schedule.exchanges) {
    for (const gas::Outgoing& message : exchange.outgoing) {
      bytes = std::max(bytes, message.bytes);
    }
    for (const gas::Incoming& message : exchange.incoming) {
      bytes = std::max(bytes, message.bytes);
    }
  }
  return bytes;
}

/// What stage `number` takes by the model: its transforms, and the copies beside the exchange that follows it.
double stage_s(const model::FftTime& model, std::size_t number) {
  const double copies_s =
      number < model.exchanges.size() ? model.copy_s / static_cast<double>(model.exchanges.size()) : 0;
  return std::max(model.arithmetic_s[number], model.memory_s[number]) + copies_s;
}

class Walk {
 public:
  Walk(const fft::Schedule& schedule, std::vector<Messages>& exchanges, const machine::Transport& transport,
       const model::FftTime& model, double resolution_s)
      : schedule_(schedule), exchanges_(exchanges), transport_(transport), model_(model), computing_(resolution_s) {}

  void run() {
    for (const fft::Pass& pass : schedule_.passes) {
      for (const fft::Stage& stage : pass.stages) {
        run_stage(stage);
      }
    }
    computing_.pass_all();
    for (Messages& exchange : exchanges_) {
      exchange.finish();
    }
  }

 private:
  void run_stage(const fft::Stage& stage) {
    const std::int64_t outers = stage.outer_range.extent;
    const double items = static_cast<double>(outers) * static_cast<double>(stage.tiles.size());
    const double tile_s = stage_s(model_, stage.number) / items;
    std::vector<std::int64_t> open_tiles;
    for (const fft::MessageGroup& group : stage.sink.groups) {
      open_tiles.push_back(group.tiles);
    }
    for (std::int64_t outer = stage.outer_range.lower; outer < stage.outer_range.lower + outers; ++outer) {
      for (std::size_t tile = 0; tile < stage.tiles.size(); ++tile) {
        receive(stage.source, outer, tile);
        computing_.add(tile_s);
        if (stage.sink.place == fft::Place::exchange) {
          const std::size_t group = stage.sink.sections[stage.sink.section_of(outer)].group;
          if (--open_tiles[group] == 0) {
            send(stage.sink.exchange, stage.sink.groups[group].messages);
          }
        }
      }
    }
    send(stage.sink.exchange, stage.sink.deferred_messages);
  }

  void receive(const fft::End& source, std::int64_t outer, std::size_t tile) {
    if (source.place != fft::Place::exchange) {
      return;
    }
    for (const std::size_t message : source.sections[source.section_of(outer)].tiles[tile].messages) {
      computing_.pass();
      exchanges_[source.exchange].wait(message);
    }
  }

  void send(std::size_t exchange, const std::vector<std::size_t>& messages) {
    for (const std::size_t message : messages) {
      if (exchanges_[exchange].is_sent(message)) {
        computing_.add(transport_.send_overhead_s + transport_.receive_overhead_s);
        computing_.pass();
        exchanges_[exchange].send(message);
      }
    }
  }

  const fft::Schedule& schedule_;
  std::vector<Messages>& exchanges_;
  const machine::Transport& transport_;
  const model::FftTime& model_;
  Computing computing_;
};

}  // namespace

double rehearse(const gas::Team& team, const fft::Options& options, const machine::Transport& transport,
                const model::FftTime& model, double resolution_s) {
  const fft::Problem problem = fft::resolve<double>(team, options);
  const fft::Schedule schedule = fft::make_schedule(problem, fft::Direction::forward, team.rank());
  // A gap holds the link as so many bytes more would.
  const auto gap_bytes =
      static_cast<std::size_t>(std::lround(transport.gap_s * options.machine->network->link_bandwidth_bytes_per_s));
  MPI_Comm comm = MPI_COMM_NULL;  // of its own: SMPI's world takes messages of every communicator for its own
  gas::check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
  void* const data = SMPI_SHARED_MALLOC(longest(schedule) + gap_bytes);
  std::vector<Messages> exchanges;
  exchanges.reserve(schedule.exchanges.size());
  for (std::size_t i = 0; i < schedule.exchanges.size(); ++i) {
    exchanges.emplace_back(comm, schedule.exchanges[i], static_cast<int>(i), gap_bytes, data);
  }
  const double time_s =
      gas::time_together(team, [&] { Walk(schedule, exchanges, transport, model, resolution_s).run(); });
  SMPI_SHARED_FREE(data);
  return time_s;
}

}  // namespace penstock::simulate
