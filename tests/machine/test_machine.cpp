// Machine files are read and written without loss, and each mistake in one is told with file, line and key.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/machine/machine.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::machine {
namespace {

const std::string cluster = R"(name = "a \"small\" torus"
year = 2008
count = 64

[node]
cores = 4
peak_flops = 13.6e9
memory_bandwidth_bytes_per_s = 13_600_000_000
cache_bytes = 8388608
cache_l2_bytes = 2048
line_bytes = 128
fft_rate_flops_per_core = 0.7e9
gemm_rate_flops_per_core = 3e9

[[node.memory_levels]]
name = "memory"
capacity_bytes = 2_147_483_648
bandwidth_bytes_per_s = 13.6e9
latency_s = 100e-9

[network]
topology = "torus"
dimensions = [4, 4, 4]
torus_from_nodes = 32
link_bandwidth_bytes_per_s = 374e6

[[transports]]
name = "mpi"
progress = 0.25
send_overhead_s = 0
receive_overhead_s = 0.5e-6
gap_s = 1e-7

[[transports.pieces]]
from_bytes = 0
latency_s = 2e-6
bandwidth_bytes_per_s = 300e6

[[transports.pieces]]
from_bytes = 65536
latency_s = 8e-6
bandwidth_bytes_per_s = 374e6
)";

/// The cluster's file with one piece of its text replaced.
std::string with(const std::string& text, const std::string& replacement) {
  std::string changed = cluster;
  const std::size_t at = changed.find(text);
  EXPECT_NE(at, std::string::npos) << text;
  return changed.replace(at, text.size(), replacement);
}

TEST(MachineFile, IsReadWhole) {
  const Machine machine = parse(cluster, "cluster.toml");
  EXPECT_EQ(machine.name, "a \"small\" torus");
  EXPECT_EQ(machine.year, 2008);
  EXPECT_EQ(machine.count, 64);
  EXPECT_EQ(machine.node.cores, 4);
  EXPECT_EQ(machine.node.memory_bandwidth_bytes_per_s, 13.6e9);
  ASSERT_EQ(machine.node.memory_levels.size(), 1U);
  EXPECT_EQ(machine.node.memory_levels[0], (MemoryLevel{"memory", std::int64_t{1} << 31, 13.6e9, 100e-9}));
  ASSERT_TRUE(machine.network);
  EXPECT_EQ(machine.network->topology, Topology::torus);
  EXPECT_EQ(machine.network->dimensions, (std::vector<std::int64_t>{4, 4, 4}));
  EXPECT_EQ(machine.network->torus_from_nodes, 32);
  EXPECT_FALSE(machine.node.bus_bandwidth_bytes_per_s);
  ASSERT_EQ(machine.transports.size(), 1U);
  EXPECT_EQ(machine.transports[0].receive_overhead_s, 0.5e-6);
  ASSERT_EQ(machine.transports[0].pieces.size(), 2U);
  EXPECT_EQ(machine.transports[0].pieces[1], (MessagePiece{65536, 8e-6, 374e6}));
}

TEST(MachineFile, WrittenAndReadAgainIsTheSameToTheLastBit) {
  const TemporaryFolder folder;
  Machine machine = parse(cluster, "cluster.toml");
  machine.name = "tabs\t, \"quotes\", \\ and \xc3\xa9";
  machine.node.peak_flops = 1.0 / 3.0 * 1e18;
  machine.transports[0].pieces[0].latency_s = 0.1 + 0.2;
  machine.node.bus_bandwidth_bytes_per_s = 8e9;
  machine.network->partitions = {{2, 2, 4}, {4, 4, 2}};
  for (const Machine& each : {machine, built_in(), detect()}) {
    write(each, folder / "machine.toml");
    EXPECT_EQ(read(folder / "machine.toml"), each) << read_text(folder / "machine.toml");
  }
}

/// The cluster with all that calibration measures.
Machine calibrated() {
  Machine machine = parse(cluster, "cluster.toml");
  machine.node.line_transfer_s = 24.1e-9;
  machine.node.false_sharing_s = 1.0 / 3.0;
  machine.node.thread_start_s = 1e-6;
  machine.node.thread_bandwidths = {{1, 70.1e9, 60.9e9}, {2, 1e11 / 3, 1e11 / 7}};
  machine.node.caches = {{1, 49152, 505.9e9}, {2, 1 << 20, 2.5e11}};
  machine.node.fft_rates = {{8, 1e9, 2e9, 3e9, 4e9}, {4096, 1e9 / 3, 2e9, 3e9, 4e9}};
  machine.node.tile_copies = {{1, 1 << 20, 1e10}, {1, 1 << 24, 2e10}, {2, 1 << 20, 3e10}};
  machine.node.device = Device{.name = "an accelerator",
                               .count = 4,
                               .memory_bytes = std::int64_t{80} << 30,
                               .memory_bandwidth_bytes_per_s = 2.5e12,
                               .to_device_bytes_per_s = 5e10,
                               .to_host_bytes_per_s = 1e11 / 3,
                               .bus_progress = 0.9,
                               .launch_s = 1e-5,
                               .copy_latency_s = 0,
                               .passes = {{64, "pencils", "points", 1 << 20, 1e12, 2e12, 0, 0},
                                          {64, "points", "points", 1 << 20, 1e12, 2e12, 3e12, 4e12}}};
  return machine;
}

TEST(MachineFile, KeepsWhatCalibrationMeasures) {
  const Machine machine = calibrated();
  EXPECT_EQ(parse(format(machine), "calibrated.toml"), machine);
}

TEST(MachineFile, RefusesCurvesOutOfOrder) {
  const auto refused = [](std::string_view part, const auto& change) {
    Machine machine = calibrated();
    change(machine.node);
    return fails_with({part}, [&] { parse(format(machine), "calibrated.toml"); });
  };
  EXPECT_TRUE(
      refused("node.fft_rates is not in ascending order of length", [](Node& node) { node.fft_rates[1].length = 8; }));
  EXPECT_TRUE(refused("node.tile_copies is not in ascending order of threads, then working_set_bytes",
                      [](Node& node) { node.tile_copies[1].working_set_bytes = 1; }));
  EXPECT_TRUE(refused("node.thread_bandwidths is not", [](Node& node) { node.thread_bandwidths[0].threads = 2; }));
  EXPECT_TRUE(refused("node.caches is not", [](Node& node) { node.caches[0].level = 3; }));
  EXPECT_TRUE(refused("node.device.passes is not in ascending order of length, then reads, writes",
                      [](Node& node) { node.device->passes[1].reads = "pencils"; }));
  EXPECT_TRUE(refused("node.device.passes[0].writes is 'rows'; give one of points, pencils, planes",
                      [](Node& node) { node.device->passes[0].writes = "rows"; }));
  EXPECT_TRUE(refused("node.device.bus_progress is 1.5; give a share, from 0 to 1",
                      [](Node& node) { node.device->bus_progress = 1.5; }));
  EXPECT_TRUE(refused("complex_double_flops is 0", [](Node& node) { node.fft_rates[0].complex_double_flops = 0; }));
}

TEST(MachineFile, CarriesCommentsThatNoReaderSees) {
  const Machine machine = calibrated();
  const Comments comments{.heading = "Measured.\n\nTwice.",
                          .of_key = {{"node.cores", "counted"},
                                     {"node.fft_rates.1.length", "the longest"},
                                     {"transports.0.pieces.1.latency_s", "fitted"}}};
  const std::string text = format(machine, comments);
  EXPECT_TRUE(text.starts_with("# Measured.\n#\n# Twice.\n")) << text;
  EXPECT_NE(text.find("cores = 4  # counted\n"), std::string::npos) << text;
  EXPECT_NE(text.find("length = 4096  # the longest\n"), std::string::npos) << text;
  EXPECT_NE(text.find("latency_s = 8e-06  # fitted\n"), std::string::npos) << text;
  EXPECT_EQ(parse(text, "calibrated.toml"), machine);
  EXPECT_TRUE(fails_with({"node.fft_rates.2.length, which the machine has not"}, [&] {
    format(machine, {.heading = {}, .of_key = {{"node.fft_rates.2.length", "?"}}});
  }));
}

TEST(MachineFile, KeepsEveryTopology) {
  Machine machine = parse(cluster, "cluster.toml");
  for (const Network& network :
       {Network{.topology = Topology::bus, .link_bandwidth_bytes_per_s = 1e9},
        Network{.topology = Topology::crossbar, .link_bandwidth_bytes_per_s = 1e9},
        Network{.topology = Topology::fat_tree,
        .nodes_per_leaf = 8,
        .oversubscription = 1.5,
        .link_bandwidth_bytes_per_s = 1e9,
        .injection_bandwidth_bytes_per_s = 2e9},
        Network{.topology = Topology::mesh, .dimensions = {8, 8}, .link_bandwidth_bytes_per_s = 1e9},
        Network{.topology = Topology::torus, .dimensions = {8, 8}, .link_bandwidth_bytes_per_s = 1e9},
        Network{.topology = Topology::hypercube, .link_bandwidth_bytes_per_s = 1e9},
        Network{.topology = Topology::dragonfly,
        .nodes_per_router = 2,
        .routers_per_group = 4,
        .global_links_per_router = 2,
        .link_bandwidth_bytes_per_s = 1e9}}) {
    machine.network = network;
    EXPECT_EQ(parse(format(machine), "text"), machine);
  }
}

TEST(MachineFile, ThatIsMissingIsRefused) {
  EXPECT_TRUE(fails_with({"/none/machine.toml", "no such file"}, [] { read("/none/machine.toml"); }));
}

TEST(MachineFile, WithAMistakeIsRefusedWithFileLineAndKey) {
  struct Mistake {
    std::string text;
    std::string replacement;
    std::string line;
    std::string problem;
  };
  for (const Mistake& mistake :
       {Mistake{"cores = 4", "cores = 0", "x.toml:6: ", "node.cores is 0; give a number greater than 0"},
        {"cores = 4", "cores = -4", "x.toml:6: ", "node.cores is -4"},
        {"cores = 4", "cores = 4.5", "x.toml:6: ", "node.cores is not an integer"},
        {"cores = 4", "cores = \"4\"", "x.toml:6: ", "node.cores is not an integer"},
        {"cores = 4", "core = 4", "x.toml:5: ", "node.cores is missing"},
        {"cores = 4", "cores = 4\ncolour = 1",
         "x.toml:7: ", "node.colour is not a known key; known here are cores, peak_f"},
        {"cores = 4", "cores = 4\ncores = 5", "x.toml:7: ", "not TOML"},
        {"cores = 4", "cores = ", "x.toml:6: ", "not TOML"},
        {"13.6e9", "nan", "x.toml:7: ", "node.peak_flops is not a finite number"},
        {"13.6e9", "inf", "x.toml:7: ", "node.peak_flops is not a finite number"},
        {"13.6e9", "true", "x.toml:7: ", "node.peak_flops is not a finite number"},
        {"13.6e9", "-13.6e9", "x.toml:7: ", "node.peak_flops is -13600000000"},
        {"name = \"a", "name = 5 # ", "x.toml:1: ", "name is not a string"},
        {"memory_bandwidth_bytes_per_s = 13", "memory_bandwidth_gb_per_s = 13", "x.toml:8: ",
         "node.memory_bandwidth_gb_per_s is not a known key; the unit is part of a key: give node.memory_ba"},
        {"latency_s = 8e-6", "latency_us = 8", "x.toml:41: ", "give transports[0].pieces[1].latency_s"},
        {"cores = 4", "cores = 4\nbus_bandwidth = 8", "x.toml:7: ", "give node.bus_bandwidth_bytes_per_s"},
        {"13.6e9", "\"13.6 GF\"", "x.toml:7: ", "node.peak_flops is not a finite number"},
        {"count = 64", "count = 65", "x.toml:21: ", "has dimensions 4 x 4 x 4, which do not multiply to count (65)"},
        {"[4, 4, 4]", "[4, 0, 4]", "x.toml:23: ", "network.dimensions holds 0"},
        {"[4, 4, 4]", "[4, 4.0]", "x.toml:23: ", "network.dimensions is not an integer"},
        {"[4, 4, 4]", "64", "x.toml:23: ", "network.dimensions is not a list"},
        {"dimensions = [4, 4, 4]", "", "x.toml:21: ", "network.dimensions is missing"},
        {"\"torus\"", "\"crossbar\"", "x.toml:23: ", "mesh or torus alone"},
        {"\"torus\"", "\"doughnut\"", "x.toml:22: ", "'doughnut'; give one of bus, crossbar"},
        {"overhead_s = 0\n", "overhead_s = -1\n", "x.toml:30: ", "transports[0].send_overhead_s is -1; give 0 or more"},
        {"progress = 0.25", "progress = 1.5", "x.toml:29: ", "transports[0].progress is 1.5; give a share"},
        {"from_bytes = 0", "from_bytes = 1", "x.toml:34: ", "from_bytes = 0"},
        {"from_bytes = 65536", "from_bytes = 0", "x.toml:34: ", "ascending"},
        {"latency_s = 8e-6", "latency_s = 0", "x.toml:41: ", "transports[0].pieces[1].latency_s is 0"},
        {"[[transports.pieces]]", "[transports.pieces]", "x.toml:39: ", "not TOML"},
        {"torus_from_nodes = 32", "nodes_per_leaf = 32", "x.toml:24: ", "has a meaning for a fat tree alone"},
        {"torus_from_nodes = 32", "partitions = [[4, 4]]",
         "x.toml:24: ", "holds [4, 4], which has not the 3 dimensions"},
        {"\"torus\"\ndimensions = [4, 4, 4]\ntorus_from_nodes = 32", "\"fat-tree\"",
         "x.toml:21: ", "network.nodes_per_leaf is missing"},
        {"[node]", "[nodes]", "x.toml:15: ", "node.cores is missing"}}) {
    EXPECT_TRUE(fails_with({mistake.line, mistake.problem}, [&] {
      parse(with(mistake.text, mistake.replacement), "x.toml");
    })) << mistake.replacement;
  }
}

TEST(MachineFile, OfSeveralNodesNeedsANetwork) {
  EXPECT_TRUE(fails_with({"x.toml:3: ", "count is 64", "[network]"},
                         [] { parse(cluster.substr(0, cluster.find("[network]")), "x.toml"); }));
}

Machine cluster_with(const std::vector<Override>& overrides) {
  return with(parse(cluster, "cluster.toml"), overrides);
}

TEST(Overrides, ReplaceKeysTogether) {
  const Machine machine = cluster_with({{"count", "8"},
                                        {"network.dimensions", "[2, 2, 2]"},
                                        {"network.link_bandwidth_bytes_per_s", "5e9"},
                                        {"node.bus_bandwidth_bytes_per_s", "8e9"},
                                        {"transports.mpi.gap_s", "3e-6"},
                                        {"transports.0.pieces.1.latency_s", "9e-6"},
                                        {"name", "another"}});
  EXPECT_EQ(machine.network->dimensions, (std::vector<std::int64_t>{2, 2, 2}));
  EXPECT_EQ(machine.network->link_bandwidth_bytes_per_s, 5e9);
  EXPECT_EQ(machine.node.bus_bandwidth_bytes_per_s, 8e9);
  EXPECT_EQ(machine.transports[0].gap_s, 3e-6);
  EXPECT_EQ(machine.transports[0].pieces[1].latency_s, 9e-6);
  EXPECT_EQ(machine.name, "another");
  EXPECT_EQ(machine.node.cores, 4);
}

TEST(Overrides, StartFromTheNumbersThatAreThere) {
  const Machine machine = cluster_with({});
  EXPECT_EQ(number(machine, "count"), 64);
  EXPECT_EQ(number(machine, "transports.mpi.pieces.1.latency_s"), 8e-6);
  EXPECT_TRUE(fails_with({"node.bus_bandwidth_bytes_per_s", "no such number"},
                         [&] { number(machine, "node.bus_bandwidth_bytes_per_s"); }));
}

TEST(Overrides, ThatAMachineCannotHaveAreRefusedWithTheirKey) {
  for (const auto& [key, value, problem] :
       {std::tuple{"node.cores", "-1", "node.cores is -1; give a number greater than 0"},
        {"node.colour", "1", "node.colour is not a known key"},
        {"nodes.cores", "1", "there is no 'nodes' in the machine"},
        {"transports.rma.gap_s", "1", "there is no 'rma' in the machine"},
        {"count", "2", "which do not multiply to count (2)"},
        {"network.link_bandwidth_bytes_per_s", "fast", "is not a finite number"},
        {"network.link_bandwidth_gb_per_s", "5", "give network.link_bandwidth_bytes_per_s"}}) {
    EXPECT_TRUE(fails_with({key, problem}, [&] { cluster_with({{key, value}}); })) << key;
  }
}

TEST(Override, IsOneValueInUtf8) {
  EXPECT_THROW(cluster_with({{"node.cores", "1\nx = 2"}}), Error);
  EXPECT_TRUE(fails_with({"UTF-8"}, [] { cluster_with({{"name", "caf\xe9"}}); }));
}

TEST(MachineFile, MayNotNestTablesWithoutEnd) {
  std::string key = "a";
  for (int i = 0; i < 200000; ++i) {
    key += ".a";
  }
  EXPECT_TRUE(
      fails_with({"deep.toml:2", "more than 32 points"}, [&] { parse("year = 1\n" + key + " = 1\n", "deep.toml"); }));
}

TEST(BuiltInMachine, IsThatOfItsDocumentedFile) {
  EXPECT_EQ(read(std::string(PENSTOCK_MACHINES) + "/default.toml"), built_in());
}

TEST(DescribedMachines, AreThoseOfTheRepositoryAndAllAccepted) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(PENSTOCK_MACHINES)) {
    files.insert(entry.path().stem().string());
    EXPECT_EQ(read(entry.path().string()), find(entry.path().stem().string())) << entry.path();
    EXPECT_EQ(find(entry.path().string()), find(entry.path().stem().string())) << entry.path();
  }
  const std::vector<std::string> names = described_names();
  EXPECT_EQ(files, std::set<std::string>(names.begin(), names.end()));
}

TEST(DescribedMachines, SayTheSourceOfEachFigure) {
  for (const auto& entry : std::filesystem::directory_iterator(PENSTOCK_MACHINES)) {
    std::istringstream lines(read_text(entry.path().string()));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t equals = line.find('=');
      const bool is_figure =
          equals != std::string::npos && line.find_first_of("0123456789", equals) != std::string::npos;
      const bool has_no_source = line.starts_with("#") || line.starts_with("name") || line.starts_with("from_bytes");
      EXPECT_TRUE(!is_figure || has_no_source || line.find('#') != std::string::npos) << entry.path() << ": " << line;
    }
  }
}

TEST(DescribedMachines, AreListedWhereANameIsNone) {
  EXPECT_TRUE(fails_with({"'nonesuch'", "default", "path of a machine file"}, [] { find("nonesuch"); }));
}

TEST(DetectedMachine, HasPlausibleCoresAndCaches) {
  const Node node = detect().node;
  EXPECT_GE(node.cores, 1);
  EXPECT_GE(node.cache_l2_bytes, 64 << 10);
  EXPECT_GE(node.cache_bytes, node.cache_l2_bytes);
  if (detect_caches().empty()) {
    EXPECT_LE(node.cache_bytes, built_in().node.cache_bytes);  // of a package, for all that is known
  }
  EXPECT_TRUE(node.line_bytes >= 16 && node.line_bytes <= 512) << node.line_bytes;
}

}  // namespace
}  // namespace penstock::machine
