// Requests in all their lives: completed one by one and together, persistent, freed, cancelled, of types freed
// meanwhile.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "buffer.hpp"

namespace penstock::interpose {
namespace {

constexpr int request_cases = 25;
constexpr int messages = 5;

/// Several messages around the ring at once.
class Several {
 public:
  explicit Several(const Case& of) : type_(of.type.type), count_(of.count) {
    for (int i = 0; i < messages; ++i) {
      sent_.emplace_back(of.type, of.count, ring_.rank * 10 + i);
      received_.emplace_back(of.type, of.count, 1000 + i);
      expected_.push_back(received_.back().storage_after(Buffer(of.type, of.count, ring_.previous * 10 + i).packed()));
    }
  }

  /// Receives first, then sends.
  std::vector<MPI_Request> start() {
    std::vector<MPI_Request> requests(2 * messages);
    for (int i = 0; i < messages; ++i) {
      MPI_Irecv(received(i).address(), count_, type_, ring_.previous, i, MPI_COMM_WORLD, &requests[at(i)]);
    }
    for (int i = messages - 1; i >= 0; --i) {
      MPI_Isend(sent(i).address(), count_, type_, ring_.next, i, MPI_COMM_WORLD, &requests[at(messages + i)]);
    }
    return requests;
  }
  void check(int i) const { EXPECT_TRUE(received_[at(i)].storage() == expected_[at(i)]) << "message " << i; }
  void check() const {
    for (int i = 0; i < messages; ++i) {
      check(i);
    }
  }
  Buffer& sent(int i) { return sent_[at(i)]; }
  Buffer& received(int i) { return received_[at(i)]; }
  const Ring& ring() const { return ring_; }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  Ring ring_;
  MPI_Datatype type_;
  int count_;
  std::vector<Buffer> sent_;
  std::vector<Buffer> received_;
  std::vector<Packed> expected_;
};

TEST(Requests, WaitallCompletesAll) {
  for_each_case(request_cases, 100, [](const Case& of) {
    Several several(of);
    std::vector<MPI_Request> requests = several.start();
    MPI_Waitall(2 * messages, requests.data(), MPI_STATUSES_IGNORE);
    EXPECT_EQ(std::ranges::count(requests, MPI_REQUEST_NULL), 2 * messages);
    several.check();
  });
}

TEST(Requests, WaitanyCompletesEachOnce) {
  for_each_case(request_cases, 101, [](const Case& of) {
    Several several(of);
    std::vector<MPI_Request> requests = several.start();
    for (int k = 0; k < 2 * messages; ++k) {
      int index = MPI_UNDEFINED;
      MPI_Status status;
      MPI_Waitany(2 * messages, requests.data(), &index, &status);
      ASSERT_NE(index, MPI_UNDEFINED);
      if (index < messages) {
        several.check(index);
      }
    }
    int index = 0;
    MPI_Waitany(2 * messages, requests.data(), &index, MPI_STATUS_IGNORE);
    EXPECT_EQ(index, MPI_UNDEFINED);
  });
}

TEST(Requests, WaitsomeCompletesEachOnce) {
  for_each_case(request_cases, 102, [](const Case& of) {
    Several several(of);
    std::vector<MPI_Request> requests = several.start();
    std::vector<int> indices(2 * messages);
    for (int done = 0; done < 2 * messages;) {
      int completed = 0;
      MPI_Waitsome(2 * messages, requests.data(), &completed, indices.data(), MPI_STATUSES_IGNORE);
      done += completed;
      for (int k = 0; k < completed; ++k) {
        if (indices[static_cast<std::size_t>(k)] < messages) {
          several.check(indices[static_cast<std::size_t>(k)]);
        }
      }
    }
  });
}

TEST(Requests, TestsCompleteWhatHasArrived) {
  for_each_case(request_cases, 103, [](const Case& of) {
    Several several(of);
    std::vector<MPI_Request> requests = several.start();
    // A test of each kind until one has completed something; then the others in turn.
    int is_complete = 0;
    while (is_complete == 0) {
      MPI_Test(&requests[0], &is_complete, MPI_STATUS_IGNORE);
    }
    several.check(0);
    int index = MPI_UNDEFINED;
    is_complete = 0;
    while (is_complete == 0) {
      MPI_Testany(messages, requests.data(), &index, &is_complete, MPI_STATUS_IGNORE);
    }
    several.check(index);
    int completed = 0;
    std::vector<int> indices(2 * messages);
    while (completed == 0) {
      MPI_Testsome(messages, requests.data(), &completed, indices.data(), MPI_STATUSES_IGNORE);
    }
    several.check(indices[0]);
    is_complete = 0;
    while (is_complete == 0) {
      MPI_Testall(2 * messages, requests.data(), &is_complete, MPI_STATUSES_IGNORE);
    }
    several.check();
  });
}

TEST(Requests, GetStatusSaysThatTheBufferIsFilled) {
  for_each_case(request_cases, 104, [](const Case& of) {
    Several several(of);
    std::vector<MPI_Request> requests = several.start();
    int is_complete = 0;
    while (is_complete == 0) {
      MPI_Request_get_status(requests[2], &is_complete, MPI_STATUS_IGNORE);
    }
    several.check(2);
    MPI_Waitall(2 * messages, requests.data(), MPI_STATUSES_IGNORE);
    several.check();
  });
}

TEST(Requests, PersistentOnesSendWhatIsThereAtEachStart) {
  for_each_case(request_cases, 105, [](const Case& of) {
    const Ring ring;
    Buffer sent(of.type, of.count, 0);
    Buffer received(of.type, of.count, 1000);
    MPI_Request requests[2];
    const auto init_send = of.count % 2 == 0 ? MPI_Send_init : MPI_Ssend_init;
    init_send(sent.address(), of.count, of.type.type, ring.next, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(received.address(), of.count, of.type.type, ring.previous, 3, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 4; ++round) {
      sent.fill(ring.rank * 10 + round);
      received.fill(1000);
      const Packed expected = received.storage_after(Buffer(of.type, of.count, ring.previous * 10 + round).packed());
      MPI_Status statuses[2];
      if (round % 2 == 0) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
      } else {
        MPI_Start(&requests[1]);
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      }
      EXPECT_NE(requests[1], MPI_REQUEST_NULL);
      EXPECT_TRUE(received.storage() == expected) << "round " << round;
      MPI_Wait(&requests[1], &statuses[1]);  // inactive: nothing to wait for, nothing to unpack
      EXPECT_TRUE(received.storage() == expected);
      EXPECT_EQ(statuses[1].MPI_SOURCE, MPI_ANY_SOURCE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    EXPECT_EQ(requests[1], MPI_REQUEST_NULL);
  });
}

TEST(Requests, OutliveTheirTypes) {
  for_each_case(request_cases, 106, [](const Case& of) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_dup(of.type.type, &type);
    const Ring ring;
    Buffer sent(of.type, of.count, ring.rank);
    Buffer received(of.type, of.count, 1000);
    const Packed expected = received.storage_after(Buffer(of.type, of.count, ring.previous).packed());
    MPI_Request requests[2];
    MPI_Irecv(received.address(), of.count, type, ring.previous, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(sent.address(), of.count, type, ring.next, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&type);
    // Handles are given out again: the next types may not be taken for the one that was freed.
    MPI_Datatype other = MPI_DATATYPE_NULL;
    MPI_Type_vector(7, 1, 3, MPI_SHORT, &other);
    MPI_Type_commit(&other);
    short from[21] = {};
    short to[21] = {};
    for (short i = 0; i < 21; ++i) {
      from[i] = i;
    }
    MPI_Sendrecv(from, 1, other, ring.next, 6, to, 1, other, ring.previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 21; ++i) {
      EXPECT_EQ(to[i], i % 3 == 0 ? i : 0);
    }
    MPI_Type_free(&other);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT_TRUE(received.storage() == expected);
  });
}

TEST(Requests, FreedWhileActiveStillArrive) {
  for_each_case(request_cases, 107, [](const Case& of) {
    Several several(of);
    std::vector<MPI_Request> requests = several.start();
    for (int i = 0; i < messages; ++i) {
      MPI_Request_free(&requests[static_cast<std::size_t>(messages + i)]);
      EXPECT_EQ(requests[static_cast<std::size_t>(messages + i)], MPI_REQUEST_NULL);
    }
    MPI_Waitall(2 * messages, requests.data(), MPI_STATUSES_IGNORE);
    several.check();
    MPI_Barrier(MPI_COMM_WORLD);  // what is being sent stays until all of it has arrived
  });
}

TEST(Requests, AReceiveFreedWhileActiveIsFilledByTheNextMessage) {
  for_each_case(5, 108, [](const Case& of) {
    Several several(of);
    const Ring& ring = several.ring();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(several.received(0).address(), of.count, of.type.type, ring.previous, 0, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Request sends[2];
    char word = 'x';
    char heard = ' ';
    MPI_Isend(several.sent(0).address(), of.count, of.type.type, ring.next, 0, MPI_COMM_WORLD, &sends[0]);
    MPI_Waitall(1, sends, MPI_STATUSES_IGNORE);
    // Whoever hears the word knows that the message before it is there.
    MPI_Issend(&word, 1, MPI_CHAR, ring.next, 1, MPI_COMM_WORLD, &sends[1]);
    MPI_Recv(&heard, 1, MPI_CHAR, ring.previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sends[1], MPI_STATUS_IGNORE);
    several.check(0);
  });
}

TEST(Requests, CancelledReceivesTouchNothing) {
  for_each_case(5, 109, [](const Case& of) {
    Buffer received(of.type, of.count, 1000);
    const Packed before = received.storage();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(received.address(), of.count, of.type.type, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Status status;
    MPI_Wait(&request, &status);
    int is_cancelled = 0;
    MPI_Test_cancelled(&status, &is_cancelled);
    EXPECT_NE(is_cancelled, 0);
    EXPECT_TRUE(received.storage() == before);
  });
}

TEST(Requests, ThreadsDoNotDisturbOneAnother) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (provided != MPI_THREAD_MULTIPLE) {
    GTEST_SKIP() << "MPI is not built for several threads";
  }
  constexpr int threads = 4;
  std::vector<MPI_Comm> comms(threads);
  for (MPI_Comm& comm : comms) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  const Ring ring;
  std::vector<int> wrong(threads, 0);
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      const auto at = static_cast<std::size_t>(thread);
      for (int i = 0; i < 200; ++i) {
        // A type of its own each time, so that handles go from thread to thread.
        const int rows = 3 + (i * 7 + thread) % 400;
        std::vector<int> sent(static_cast<std::size_t>(rows) * 5);
        std::vector<int> received(sent.size(), -1);
        for (std::size_t k = 0; k < sent.size(); ++k) {
          sent[k] = static_cast<int>(k) + i + thread;
        }
        MPI_Datatype column = MPI_DATATYPE_NULL;
        MPI_Type_vector(rows, 2, 5, MPI_INT, &column);
        MPI_Type_commit(&column);
        MPI_Request requests[2];
        MPI_Irecv(received.data(), 1, column, ring.previous, i, comms[at], &requests[0]);
        MPI_Isend(sent.data(), 1, column, ring.next, i, comms[at], &requests[1]);
        MPI_Type_free(&column);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (std::size_t k = 0; k < sent.size(); ++k) {
          wrong[at] += received[k] != (k % 5 < 2 ? sent[k] : -1);
        }
      }
    });
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  EXPECT_EQ(std::ranges::count(wrong, 0), threads);
  for (MPI_Comm& comm : comms) {
    MPI_Comm_free(&comm);
  }
}

}  // namespace
}  // namespace penstock::interpose
