// The timeline of a team: whose events are where, who is named as the one that was waited for, and on which clock.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "penstock/timeline/records.hpp"
#include "penstock/timeline/timeline.hpp"
#include "penstock/timeline/trace_events.hpp"
#include "tests/worlds.hpp"

namespace penstock::timeline {
namespace {

using nlohmann::json;
using trace::Category;

/// The events of a name, of all ranks or of one.
std::vector<json> events_of(const json& timeline, const std::string& name, int rank = -1) {
  std::vector<json> found;
  for (const json& event : timeline["traceEvents"]) {
    if (event["ph"] == "X" && event["name"] == name && (rank < 0 || event["pid"] == rank)) {
      found.push_back(event);
    }
  }
  return found;
}

int count(const json& timeline, const std::string& phase) {
  int found = 0;
  for (const json& event : timeline["traceEvents"]) {
    found += event["ph"] == phase ? 1 : 0;
  }
  return found;
}

TEST(Timeline, EveryRankIsAProcessAndEveryTrackAThread) {
  gas::on_worlds({1, 2, 3}, [](gas::Team& team) {
    Timeline timeline(team, 2);
    {
      const trace::Recording recording(&timeline.recorder());
      ThreadPool pool(2);
      const trace::Step step("forward", 1);
      pool.run([](int) { const trace::Span span("transform x", Category::transform, {.bytes = 8}); });
    }
    const Collected collected = timeline.collect({.version = "1.2", .arguments = {"fft", "\"a\\b\""}});
    if (team.rank() != 0) {
      EXPECT_EQ(collected.json, "");
      return;
    }
    const json found = json::parse(collected.json);
    EXPECT_EQ(found["penstock"]["ranks"], team.size());
    EXPECT_EQ(found["penstock"]["version"], "1.2");
    EXPECT_EQ(found["penstock"]["arguments"][1], "\"a\\b\"");
    EXPECT_EQ(found["penstock"]["dropped"], 0);
    EXPECT_EQ(collected.events, count(found, "X"));
    for (int rank = 0; rank < team.size(); ++rank) {
      ASSERT_EQ(events_of(found, "transform x", rank).size(), 2);
      ASSERT_EQ(events_of(found, "forward 1", rank).size(), 1);
      const json step = events_of(found, "forward 1", rank).front();
      for (const json& event : events_of(found, "transform x", rank)) {
        EXPECT_EQ(event["cat"], "transform");
        EXPECT_EQ(event["args"]["bytes"], 8);
        EXPECT_FALSE(event["args"].contains("peer"));
        EXPECT_GE(event["ts"].get<double>(), step["ts"].get<double>());
      }
    }
    std::map<int, std::string> processes;
    std::map<std::pair<int, int>, std::string> threads;
    for (const json& event : found["traceEvents"]) {
      if (event["name"] == "process_name") {
        processes[event["pid"]] = event["args"]["name"];
      } else if (event["name"] == "thread_name") {
        threads[{event["pid"], event["tid"]}] = event["args"]["name"];
      }
    }
    ASSERT_EQ(std::ssize(processes), team.size());
    EXPECT_EQ(processes[0], "rank 0 (" + team.placement().names[0] + ")");
    EXPECT_EQ((threads[{0, 0}]), "steps");
    EXPECT_EQ((threads[{0, 1}]), "thread 0");
    EXPECT_EQ((threads[{0, 2}]), "thread 1");
  });
}

TEST(Timeline, AWaitForASignalNamesTheRankThatHasSentIt) {
  gas::on_worlds({2, 3}, [](gas::Team& team) {
    if (team.size() < 2) {
      return;
    }
    Timeline timeline(team, 1);
    gas::Segment segment(team, 64, 1);
    team.barrier();
    const int last = team.size() - 1;
    {
      const trace::Recording recording(&timeline.recorder());
      if (team.rank() == last) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        const std::vector<double> data(4, 1.5);
        segment.put_signal<double>({0, 0}, data, 0);
      } else if (team.rank() == 0) {
        segment.wait(0, 1);
      }
    }
    team.barrier();
    const Collected collected = timeline.collect({});
    if (team.rank() == 0) {
      const json found = json::parse(collected.json);
      const auto waits = events_of(found, "wait", 0);
      ASSERT_EQ(waits.size(), 1);
      EXPECT_EQ(waits.front()["args"]["peer"], last);
      const auto puts = events_of(found, "put", last);
      ASSERT_EQ(puts.size(), 1);
      EXPECT_EQ(puts.front()["args"]["peer"], 0);
      EXPECT_EQ(puts.front()["args"]["bytes"], 32);
      EXPECT_EQ(count(found, "s"), 1);
      EXPECT_EQ(count(found, "f"), 1);
    }
  });
}

TEST(Timeline, ACollectiveCallNamesTheRankThatCameLast) {
  gas::on_worlds({2, 3}, [](gas::Team& team) {
    if (team.size() < 2) {
      return;
    }
    const int last = team.size() - 1;
    for (const char* name : {"barrier", "all_reduce"}) {
      Timeline timeline(team, 1);
      team.barrier();
      {
        const trace::Recording recording(&timeline.recorder());
        if (team.rank() == last) {
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
        }
        if (name == std::string("barrier")) {
          team.barrier();
        } else {
          const std::vector<double> mine(4, 1.0);
          std::vector<double> sum(4);
          gas::all_reduce(team, std::span<const double>(mine), std::span(sum), std::plus<double>());
        }
      }
      const Collected collected = timeline.collect({});
      if (team.rank() == 0) {
        const json found = json::parse(collected.json);
        for (int rank = 0; rank < last; ++rank) {
          const auto calls = events_of(found, name, rank);
          ASSERT_EQ(calls.size(), 1) << name;
          EXPECT_EQ(calls.front()["args"]["peer"], last) << name;
          EXPECT_GE(calls.front()["dur"].get<double>(), 10e3) << name;  // it began at most 20 ms late
        }
        for (const json& call : events_of(found, name, last)) {
          EXPECT_FALSE(call["args"].contains("peer")) << name;
        }
      }
    }
  });
}

TEST(Timeline, OneStepAloneIsCollectedWhereThatIsAsked) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    Timeline timeline(team, 1);
    {
      const trace::Recording recording(&timeline.recorder());
      for (int i = 1; i <= 3; ++i) {
        team.barrier();
        const trace::Step step("forward", i);
        const trace::Span span(i == 2 ? "second" : "other", Category::work);
      }
    }
    const Collected collected = timeline.collect({}, "forward 2");
    if (team.rank() == 0) {
      const json found = json::parse(collected.json);
      EXPECT_EQ(std::ssize(events_of(found, "second")), team.size());
      EXPECT_EQ(std::ssize(events_of(found, "forward 2")), team.size());
      if (team.size() == 1) {
        EXPECT_TRUE(events_of(found, "other").empty());
      }
    }
  });
}

TEST(Timeline, ClocksThatDifferAreFoundToDifferSo) {
  gas::on_worlds({2, 3}, [](gas::Team& team) {
    std::vector<int> nodes;
    for (int rank = 0; rank < team.size(); ++rank) {
      nodes.push_back(rank);
    }
    const double ahead_s = 100.0 * team.rank();
    const double begin_s = seconds();
    const Clock clock = compare_clocks(team, nodes, [&] { return seconds() + ahead_s; });
    const double took_s = seconds() - begin_s;
    EXPECT_NEAR(clock.offset_s, -ahead_s, took_s);
    EXPECT_GE(clock.at_s, begin_s + ahead_s);
    EXPECT_LE(clock.at_s, seconds() + ahead_s);
  });
  EXPECT_DOUBLE_EQ(offset_at(15, {.at_s = 10, .offset_s = 1}, {.at_s = 20, .offset_s = 2}), 1.5);
  EXPECT_DOUBLE_EQ(offset_at(25, {.at_s = 10, .offset_s = 1}, {.at_s = 20, .offset_s = 2}), 2.5);
  EXPECT_DOUBLE_EQ(offset_at(25, {.at_s = 10, .offset_s = 1}, {.at_s = 10, .offset_s = 1}), 1);
}

TEST(Timeline, RanksWithoutASharedClockAreBroughtToThatOfTheFirst) {
  std::vector<Record> records;
  for (int rank = 0; rank < 2; ++rank) {
    trace::Recorder recorder(2, rank);
    {
      const trace::Recording recording(&recorder);
      for (int i = 0; i < 3; ++i) {
        trace::this_track()->add({.name = "tile", .begin_s = 1000.0 * rank + i, .end_s = 1000.0 * rank + i + 0.5});
      }
    }
    const Clock clock{.at_s = 0, .offset_s = -1000.0 * rank};
    records.push_back(unpack(pack(recorder, clock, clock)));
  }
  const Collected collected = write_trace_events(records, {}, "");
  EXPECT_EQ(collected.dropped, 2);
  const json found = json::parse(collected.json);
  EXPECT_EQ(found["penstock"]["dropped"], 2);
  for (int rank = 0; rank < 2; ++rank) {
    const auto tiles = events_of(found, "tile", rank);
    ASSERT_EQ(tiles.size(), 2);
    EXPECT_DOUBLE_EQ(tiles[1]["ts"].get<double>(), 1e6);
    EXPECT_DOUBLE_EQ(tiles[1]["dur"].get<double>(), 0.5e6);
  }
}

}  // namespace
}  // namespace penstock::timeline
