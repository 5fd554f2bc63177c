// Blocking and non-blocking messages of random types: what arrives is what was sent, and nothing else is touched.
#include <gtest/gtest.h>

#include <vector>

#include "buffer.hpp"

namespace penstock::interpose {
namespace {

constexpr int tag = 5;
constexpr int message_cases = 40;

/// A message around the ring: what I send, what I receive into, and what must be there then.
struct Exchange {
  explicit Exchange(const Case& of)
      : type(of.type.type), count(of.count), sent(of.type, of.count, ring.rank), received(of.type, of.count, 1000) {
    expected = received.storage_after(Buffer(of.type, of.count, ring.previous).packed());
  }
  void check() const { EXPECT_TRUE(received.storage() == expected); }
  MPI_Request start_receive() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(received.address(), count, type, ring.previous, tag, MPI_COMM_WORLD, &request);
    return request;
  }
  MPI_Request start_send() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(sent.address(), count, type, ring.next, tag, MPI_COMM_WORLD, &request);
    return request;
  }

  Ring ring;
  MPI_Datatype type;
  int count;
  Buffer sent;
  Buffer received;
  Packed expected;
};

using Send = int(const void*, int, MPI_Datatype, int, int, MPI_Comm);
using StartSend = int(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

void send_around(Send& send) {
  for_each_case(message_cases, 1, [&](const Case& of) {
    Exchange exchange(of);
    MPI_Request request = exchange.start_receive();
    MPI_Barrier(MPI_COMM_WORLD);  // a ready send wants its receive posted
    EXPECT_EQ(send(exchange.sent.address(), of.count, of.type.type, exchange.ring.next, tag, MPI_COMM_WORLD),
              MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    exchange.check();
  });
}

void start_send_around(StartSend& start) {
  for_each_case(message_cases, 2, [&](const Case& of) {
    Exchange exchange(of);
    MPI_Request requests[2];
    requests[0] = exchange.start_receive();
    MPI_Barrier(MPI_COMM_WORLD);
    start(exchange.sent.address(), of.count, of.type.type, exchange.ring.next, tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    int bytes = 0;
    MPI_Get_count(&statuses[0], MPI_BYTE, &bytes);
    EXPECT_EQ(bytes, exchange.sent.bytes());
    EXPECT_EQ(statuses[0].MPI_SOURCE, exchange.ring.previous);
    exchange.check();
  });
}

class AttachedBuffer {
 public:
  AttachedBuffer() : memory_(std::size_t{8} << 20) { MPI_Buffer_attach(memory_.data(), 8 << 20); }
  ~AttachedBuffer() {
    void* address = nullptr;
    int bytes = 0;
    MPI_Buffer_detach(static_cast<void*>(&address), &bytes);
  }
  AttachedBuffer(const AttachedBuffer&) = delete;

 private:
  std::vector<std::byte> memory_;
};

TEST(Messages, SendArrives) {
  send_around(MPI_Send);
}
TEST(Messages, SsendArrives) {
  send_around(MPI_Ssend);
}
TEST(Messages, RsendArrives) {
  send_around(MPI_Rsend);
}
TEST(Messages, BsendArrives) {
  const AttachedBuffer buffer;
  send_around(MPI_Bsend);
}
TEST(Messages, IsendArrives) {
  start_send_around(MPI_Isend);
}
TEST(Messages, IssendArrives) {
  start_send_around(MPI_Issend);
}
TEST(Messages, IrsendArrives) {
  start_send_around(MPI_Irsend);
}
TEST(Messages, IbsendArrives) {
  const AttachedBuffer buffer;
  start_send_around(MPI_Ibsend);
}

TEST(Messages, ProbedMessagesAreReceived) {
  for_each_case(message_cases, 3, [](const Case& of) {
    Exchange exchange(of);
    MPI_Request request = exchange.start_send();
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    int count = 0;
    MPI_Get_count(&status, of.type.type, &count);
    EXPECT_EQ(count, of.count);
    MPI_Recv(exchange.received.address(), of.count, of.type.type, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
             &status);
    MPI_Get_count(&status, of.type.type, &count);
    EXPECT_EQ(count, of.count);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    exchange.check();
  });
}

TEST(Messages, MatchedMessagesAreReceived) {
  for_each_case(message_cases, 4, [](const Case& of) {
    Exchange exchange(of);
    MPI_Request request = exchange.start_send();
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Mprobe(exchange.ring.previous, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    if (of.count % 2 == 0) {
      MPI_Mrecv(exchange.received.address(), of.count, of.type.type, &message, MPI_STATUS_IGNORE);
    } else {
      MPI_Request receive = MPI_REQUEST_NULL;
      MPI_Imrecv(exchange.received.address(), of.count, of.type.type, &message, &receive);
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    exchange.check();
  });
}

TEST(Messages, SendrecvArrives) {
  for_each_case(message_cases, 5, [](const Case& of) {
    Exchange exchange(of);
    MPI_Status status;
    MPI_Sendrecv(exchange.sent.address(), of.count, of.type.type, exchange.ring.next, tag, exchange.received.address(),
                 of.count, of.type.type, exchange.ring.previous, tag, MPI_COMM_WORLD, &status);
    int count = 0;
    MPI_Get_count(&status, of.type.type, &count);
    EXPECT_EQ(count, of.count);
    exchange.check();
  });
}

TEST(Messages, SendrecvReplaceArrives) {
  for_each_case(message_cases, 6, [](const Case& of) {
    Exchange exchange(of);
    const Packed expected = exchange.sent.storage_after(Buffer(of.type, of.count, exchange.ring.previous).packed());
    MPI_Sendrecv_replace(exchange.sent.address(), of.count, of.type.type, exchange.ring.next, tag,
                         exchange.ring.previous, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_TRUE(exchange.sent.storage() == expected);
  });
}

TEST(Messages, BytesAreUnderstoodOnTheOtherSide) {
  for_each_case(message_cases, 7, [](const Case& of) {
    Exchange exchange(of);
    const Packed sent = exchange.sent.packed();
    MPI_Request request = exchange.start_receive();
    MPI_Send(sent.data(), exchange.sent.bytes(), MPI_BYTE, exchange.ring.next, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    exchange.check();

    Packed received(sent.size());
    MPI_Irecv(received.data(), exchange.sent.bytes(), MPI_BYTE, exchange.ring.previous, tag, MPI_COMM_WORLD, &request);
    MPI_Send(exchange.sent.address(), of.count, of.type.type, exchange.ring.next, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_TRUE(received == Buffer(of.type, of.count, exchange.ring.previous).packed());
  });
}

TEST(Messages, PairsSentByAVectorAreReceivedAsPairs) {
  struct Pair {
    double value;
    int index;
  };
  constexpr int blocks = 6000;
  const Ring ring;
  std::vector<Pair> sent(2 * blocks);
  for (int i = 0; i < 2 * blocks; ++i) {
    sent[static_cast<std::size_t>(i)] = {.value = ring.rank + 0.5 * i, .index = i};
  }
  std::vector<Pair> received(blocks);
  MPI_Datatype every_second = MPI_DATATYPE_NULL;
  MPI_Type_vector(blocks, 1, 2, MPI_DOUBLE_INT, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(received.data(), blocks, MPI_DOUBLE_INT, ring.previous, tag, MPI_COMM_WORLD, &request);
  EXPECT_EQ(MPI_Send(sent.data(), 1, every_second, ring.next, tag, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  for (int i = 0; i < blocks; ++i) {
    EXPECT_EQ(received[static_cast<std::size_t>(i)].value, ring.previous + 1.0 * i);
    EXPECT_EQ(received[static_cast<std::size_t>(i)].index, 2 * i);
  }
  MPI_Type_free(&every_second);
}

TEST(Messages, APartOfWhatWasExpectedTouchesNoMore) {
  for_each_case(message_cases, 8, [](const Case& of) {
    const Ring ring;
    const int each = static_cast<int>(of.type.bytes.size());
    for (const int elements : {0, 1, of.count / 2, of.count - 1}) {
      const int part = elements * each;
      Buffer received(of.type, of.count, 1000);
      const Packed sent = Buffer(of.type, of.count, ring.rank).packed();
      Packed came = Buffer(of.type, of.count, ring.previous).packed();
      came.resize(static_cast<std::size_t>(part));
      const Packed expected = received.storage_after(came);
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(received.address(), of.count, of.type.type, ring.previous, tag, MPI_COMM_WORLD, &request);
      MPI_Send(sent.data(), part, MPI_BYTE, ring.next, tag, MPI_COMM_WORLD);
      MPI_Status status;
      MPI_Wait(&request, &status);
      EXPECT_TRUE(received.storage() == expected) << elements << " elements";
      int seen = 0;
      MPI_Get_count(&status, MPI_BYTE, &seen);
      EXPECT_EQ(seen, part);
      MPI_Get_count(&status, of.type.type, &seen);
      EXPECT_EQ(seen, elements);
    }
  });
}

TEST(Messages, NothingGoesToNobody) {
  for_each_case(5, 9, [](const Case& of) {
    Exchange exchange(of);
    const Packed before = exchange.received.storage();
    MPI_Send(exchange.sent.address(), of.count, of.type.type, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
    MPI_Status status;
    MPI_Recv(exchange.received.address(), of.count, of.type.type, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &status);
    EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    EXPECT_TRUE(exchange.received.storage() == before);
    MPI_Sendrecv(exchange.sent.address(), 0, of.type.type, exchange.ring.next, tag, exchange.received.address(), 0,
                 of.type.type, exchange.ring.previous, tag, MPI_COMM_WORLD, &status);
    EXPECT_TRUE(exchange.received.storage() == before);
  });
}

}  // namespace
}  // namespace penstock::interpose
