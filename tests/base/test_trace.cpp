// Recorded events: where they go, what is kept of them, and that nothing is recorded where nobody asks.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"

namespace penstock::trace {
namespace {

std::vector<Event> events_of(const Recorder& recorder, const std::string& name) {
  for (const Track* track : recorder.tracks()) {
    if (track->name() == name) {
      return track->events();
    }
  }
  return {};
}

TEST(Trace, NothingIsRecordedByAThreadThatDoesNot) {
  Recorder recorder(10);
  {
    const Span span("wait", Category::wait);
    const Step step("forward", 1);
  }
  EXPECT_EQ(this_track(), nullptr);
  EXPECT_TRUE(recorder.tracks().empty());
}

TEST(Trace, AnEventHasItsTimesItsPlaceAndWhatIsKnownOfIt) {
  Recorder recorder(10);
  const double before_s = seconds();
  {
    const Recording recording(&recorder, 2);
    this_track()->set_place({.outer = 5, .tile = 6, .stage = 1});
    const Span span("wait", Category::wait, {.peer = 3, .bytes = 4, .id = 7, .after = 8});
  }
  const double after_s = seconds();
  const std::vector<Event> events = events_of(recorder, "thread 2");
  ASSERT_EQ(events.size(), 1);
  const Event& event = events.front();
  EXPECT_STREQ(event.name, "wait");
  EXPECT_LE(before_s, event.begin_s);
  EXPECT_LE(event.begin_s, event.end_s);
  EXPECT_LE(event.end_s, after_s);
  EXPECT_EQ(event.outer, 5);
  EXPECT_EQ(event.tile, 6);
  EXPECT_EQ(event.stage, 1);
  EXPECT_EQ(event.peer, 3);
  EXPECT_EQ(event.bytes, 4);
  EXPECT_EQ(event.id, 7);
  EXPECT_EQ(event.after, 8);
  EXPECT_EQ(event.category, Category::wait);
}

TEST(Trace, WhatIsWithinASpanIsHiddenUnlessItIsAskedFor) {
  Recorder recorder(10);
  const Recording recording(&recorder);
  {
    const Span outer("send", Category::send);
    const Span inner("put", Category::send);
  }
  EXPECT_EQ(events_of(recorder, "thread 0").size(), 1);
  {
    const Span outer("multiply", Category::multiply, {}, Within::recorded);
    const Span inner("put", Category::send);
  }
  const std::vector<Event> events = events_of(recorder, "thread 0");
  ASSERT_EQ(events.size(), 3);
  EXPECT_STREQ(events[1].name, "put");
  EXPECT_GE(events[1].begin_s, events[2].begin_s);
  EXPECT_LE(events[1].end_s, events[2].end_s);
  {
    const Pause pause;
    const Span span("wait", Category::wait);
  }
  EXPECT_EQ(events_of(recorder, "thread 0").size(), 3);
}

TEST(Trace, EventsBeyondTheLimitAreCounted) {
  Recorder recorder(5000);
  const Recording recording(&recorder);
  for (int i = 0; i < 5003; ++i) {
    this_track()->add({.name = "tile", .bytes = i});
  }
  const std::vector<Event> events = events_of(recorder, "thread 0");
  ASSERT_EQ(events.size(), 5000);
  EXPECT_EQ(events.back().bytes, 4999);
  EXPECT_EQ(this_track()->dropped(), 3);
}

TEST(Trace, ThreadsOfAPoolRecordForTheRankThatWakesThem) {
  ThreadPool pool(3);
  Recorder first(100);
  Recorder second(100);
  for (Recorder* recorder : {&first, static_cast<Recorder*>(nullptr), &second}) {
    const Recording recording(recorder);
    pool.run([](int thread) { const Span span("tile", Category::transform, {.bytes = thread}); });
  }
  for (Recorder* recorder : {&first, &second}) {
    ASSERT_EQ(recorder->tracks().size(), 3);
    for (int thread = 0; thread < 3; ++thread) {
      const std::vector<Event> events = events_of(*recorder, "thread " + std::to_string(thread));
      ASSERT_EQ(events.size(), 1) << thread;
      EXPECT_EQ(events.front().bytes, thread);
    }
  }
}

TEST(Trace, RanksThatAreThreadsRecordEachForItself) {
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    recorders.push_back(std::make_unique<Recorder>(1000, rank));
    ranks.emplace_back([recorder = recorders.back().get(), rank] {
      const Recording recording(recorder);
      for (int i = 0; i < 100; ++i) {
        const Step step("step", rank);
        const Span span("tile", Category::transform, {.id = recorder->next_id()});
      }
    });
  }
  for (std::thread& rank : ranks) {
    rank.join();
  }
  std::set<std::uint64_t> ids;
  for (int rank = 0; rank < 4; ++rank) {
    const Recorder& recorder = *recorders[static_cast<std::size_t>(rank)];
    const std::vector<Event> steps = events_of(recorder, steps_track);
    ASSERT_EQ(steps.size(), 100);
    EXPECT_EQ(steps.front().name, steps.back().name);
    EXPECT_EQ(steps.back().name, "step " + std::to_string(rank));
    for (const Event& event : events_of(recorder, "thread 0")) {
      ids.insert(event.id);
    }
  }
  EXPECT_EQ(ids.size(), 400);
}

}  // namespace
}  // namespace penstock::trace
