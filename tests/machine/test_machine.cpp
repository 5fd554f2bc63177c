// Machine files are read and written without loss, and each mistake in one is told with file, line and key.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

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
link_bandwidth_bytes_per_s = 374e6
send_overhead_s = 0
receive_overhead_s = 0.5e-6

[[network.pieces]]
from_bytes = 0
latency_s = 2e-6
bandwidth_bytes_per_s = 300e6

[[network.pieces]]
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
  EXPECT_EQ(machine.network->receive_overhead_s, 0.5e-6);
  ASSERT_EQ(machine.network->pieces.size(), 2U);
  EXPECT_EQ(machine.network->pieces[1], (NetworkPiece{65536, 8e-6, 374e6}));
}

TEST(MachineFile, WrittenAndReadAgainIsTheSameToTheLastBit) {
  const TemporaryFolder folder;
  Machine machine = parse(cluster, "cluster.toml");
  machine.name = "tabs\t, \"quotes\", \\ and \xc3\xa9";
  machine.node.peak_flops = 1.0 / 3.0 * 1e18;
  machine.network->pieces[0].latency_s = 0.1 + 0.2;
  for (const Machine& each : {machine, built_in(), detect()}) {
    write(each, folder / "machine.toml");
    EXPECT_EQ(read(folder / "machine.toml"), each) << read_text(folder / "machine.toml");
  }
}

TEST(MachineFile, KeepsEveryTopology) {
  Machine machine = parse(cluster, "cluster.toml");
  for (const Topology topology : {Topology::bus, Topology::crossbar, Topology::fat_tree, Topology::mesh,
                                  Topology::torus, Topology::hypercube, Topology::dragonfly}) {
    machine.network->topology = topology;
    if (topology != Topology::mesh && topology != Topology::torus) {
      machine.network->dimensions.clear();
    } else {
      machine.network->dimensions = {8, 8};
    }
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
        {"count = 64", "count = 65", "x.toml:21: ", "network.dimensions (4 x 4 x 4) do not multiply to count (65)"},
        {"[4, 4, 4]", "[4, 0, 4]", "x.toml:23: ", "network.dimensions holds 0"},
        {"[4, 4, 4]", "[4, 4.0]", "x.toml:23: ", "network.dimensions is not an integer"},
        {"[4, 4, 4]", "64", "x.toml:23: ", "network.dimensions is not a list"},
        {"dimensions = [4, 4, 4]", "", "x.toml:21: ", "network.dimensions is missing"},
        {"\"torus\"", "\"crossbar\"", "x.toml:23: ", "mesh or torus alone"},
        {"\"torus\"", "\"doughnut\"", "x.toml:22: ", "'doughnut'; give one of bus, crossbar"},
        {"overhead_s = 0\n", "overhead_s = -1\n", "x.toml:25: ", "network.send_overhead_s is -1; give 0 or more"},
        {"from_bytes = 0", "from_bytes = 1", "x.toml:28: ", "from_bytes = 0"},
        {"from_bytes = 65536", "from_bytes = 0", "x.toml:28: ", "ascending"},
        {"latency_s = 8e-6", "latency_s = 0", "x.toml:35: ", "network.pieces[1].latency_s is 0"},
        {"[[network.pieces]]", "[network.pieces]", "x.toml:33: ", "not TOML"},
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

TEST(BuiltInMachine, IsThatOfItsDocumentedFile) {
  EXPECT_EQ(read(std::string(PENSTOCK_MACHINES) + "/default.toml"), built_in());
}

TEST(MachineFiles, OfTheRepositoryAreAllAccepted) {
  for (const auto& entry : std::filesystem::directory_iterator(PENSTOCK_MACHINES)) {
    EXPECT_NO_THROW(read(entry.path().string())) << entry.path();
  }
}

TEST(DetectedMachine, HasPlausibleCoresAndCaches) {
  const Node node = detect().node;
  EXPECT_GE(node.cores, 1);
  EXPECT_GE(node.cache_l2_bytes, 64 << 10);
  EXPECT_GE(node.cache_bytes, node.cache_l2_bytes);
  EXPECT_TRUE(node.line_bytes >= 16 && node.line_bytes <= 512) << node.line_bytes;
}

}  // namespace
}  // namespace penstock::machine
