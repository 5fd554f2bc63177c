/* Exchanges of the C interface: mpirun -n 3 test_c_exchange_over_mpi, or test_c_exchange alone. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/c/checks.h"

/* Each rank sends to the next one, in rounds; the numbers tell the round and the rank. */
static void rounds_around(penstock_team* team) {
  const int ranks = penstock_team_size(team);
  const int next = (my_rank + 1) % ranks;
  const int before = (my_rank + ranks - 1) % ranks;
  penstock_segment* segment = NULL;
  check(penstock_segment_create(team, 100 * sizeof(int64_t), 0, &segment), "a segment");
  const int64_t* const mine = penstock_segment_local(segment);
  const penstock_outgoing outgoing = {next, 16, 50 * sizeof(int64_t), 0};
  const penstock_incoming incoming = {before, 16, 50 * sizeof(int64_t)};
  penstock_exchange* exchange = NULL;
  check(penstock_exchange_create(team, segment, &outgoing, 1, &incoming, 1, &exchange), "an exchange");
  for (int64_t round = 0; round < 5; ++round) {
    check(penstock_exchange_open(exchange), "open");
    void* place = NULL;
    check(penstock_exchange_destination(exchange, 0, &place), "a destination");
    for (int64_t i = 0; i < 50; ++i) {
      ((int64_t*)place)[i] = 10000 * round + 100 * my_rank + i;
    }
    check(penstock_exchange_send(exchange, 0), "send");
    int has_arrived = 0;
    check(penstock_exchange_test(exchange, 0, &has_arrived), "test");
    check(penstock_exchange_wait(exchange, 0), "wait");
    check(penstock_exchange_test(exchange, 0, &has_arrived), "test");
    expect(has_arrived == 1, "a message that was waited for");
    int wrong = 0;
    for (int64_t i = 0; i < 50; ++i) {
      wrong += mine[2 + i] != 10000 * round + 100 * before + i;
    }
    expect(wrong == 0, "what was sent");
    check(penstock_exchange_finish(exchange), "finish");
  }
  expect_failure(penstock_exchange_wait(exchange, 1), "message 1 of an exchange that lists 1", "a message that is not");
  check(penstock_team_barrier(team), "a barrier");
  check(penstock_exchange_destroy(exchange), "destroy an exchange");

  exchange = NULL;
  const penstock_incoming other = {before, 16, my_rank == 0 ? 8 : 50 * sizeof(int64_t)};
  expect_failure(penstock_exchange_create(team, segment, &outgoing, 1, &other, 1, &exchange), "differ",
                 "a length that differs on one rank");
  const penstock_outgoing outside = {next, 100 * sizeof(int64_t), 8, 0};
  expect_failure(penstock_exchange_create(team, segment, my_rank == 0 ? &outside : &outgoing, 1, &incoming, 1, &exchange),
                 "must lie within", "a message beyond the segment on one rank");
  expect_failure(penstock_exchange_create(team, segment, my_rank == 0 ? NULL : &outgoing, 1, &incoming, 1, &exchange),
                 "NULL", "no list on one rank");
  expect(exchange == NULL, "an exchange where there is none");
  check(penstock_segment_destroy(segment), "destroy a segment");
}

/* Blocks of different lengths, and two exchanges under way at once. */
static void all_to_all(penstock_team* team) {
  const int ranks = penstock_team_size(team);
  int32_t* const send = calloc((size_t)(ranks * ranks), sizeof(int32_t));
  int32_t* const receive = calloc((size_t)(ranks * ranks), sizeof(int32_t));
  int32_t* const equal = calloc((size_t)ranks, sizeof(int32_t));
  penstock_send_block* const sent = calloc((size_t)ranks, sizeof(penstock_send_block));
  penstock_receive_block* const received = calloc((size_t)ranks, sizeof(penstock_receive_block));
  for (int k = 0; k < ranks; ++k) {
    for (int i = 0; i < ranks; ++i) {
      send[k * ranks + i] = 100 * my_rank + k;
    }
    sent[k] = (penstock_send_block){send + k * ranks, (size_t)k * sizeof(int32_t)};
    received[k] = (penstock_receive_block){receive + k * ranks, (size_t)my_rank * sizeof(int32_t)};
  }
  penstock_event* first = NULL;
  penstock_event* second = NULL;
  check(penstock_start_exchange_blocks(team, sent, received, &first), "begin an exchange");
  for (int k = 0; k < ranks; ++k) {
    received[k].bytes = 0;
    sent[k].bytes = 0;
  }
  check(penstock_start_exchange_blocks(team, sent, received, &second), "begin an exchange of nothing");
  int is_done = 0;
  check(penstock_event_test(second, &is_done), "test");
  check(penstock_event_wait(second), "wait");
  check(penstock_event_wait(first), "wait");
  int wrong = 0;
  for (int k = 0; k < ranks; ++k) {
    for (int i = 0; i < ranks; ++i) {
      wrong += receive[k * ranks + i] != (i < my_rank ? 100 * k + my_rank : 0);
    }
    equal[k] = 1000 * my_rank + k;
  }
  expect(wrong == 0, "blocks of all ranks");
  check(penstock_exchange_blocks(team, equal, receive, sizeof(int32_t)), "an exchange of equal blocks");
  for (int k = 0; k < ranks; ++k) {
    expect(receive[k] == 1000 * k + my_rank, "equal blocks of all ranks");
  }
  expect_failure(penstock_exchange_blocks(team, my_rank == 0 ? NULL : equal, receive, sizeof(int32_t)), "rank 0",
                 "no memory on one rank");
  check(penstock_exchange_blocks(team, equal, receive, sizeof(int32_t)), "an exchange after that");
  free(send);
  free(receive);
  free(equal);
  free(sent);
  free(received);
}

int main(int argc, char** argv) {
  penstock_team* const team = begin_ranks(argc, argv);
  rounds_around(team);
  all_to_all(team);
  return end_ranks(team);
}
