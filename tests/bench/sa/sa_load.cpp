// A host that asks for paths as fast as it gets answers: so many requests in flight on one port,
// through libibumad. Run below libumad2sim, or on a real adapter. One JSON object on stdout.
//
// A path between two random ports, by GID, as the kernel's connection manager asks for it.
#include <fmt/core.h>
#include <infiniband/umad.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "smd/base/command_line.h"
#include "smd/base/rng.h"
#include "smd/sa/path_finder.h"

namespace smd::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kGsiQKey = 0x80010000;
constexpr int kKernelTimeoutMs = 2000;
constexpr std::chrono::seconds kGivenUp{2};

struct Options {
  std::string guids;
  unsigned window = 16;
  double seconds = 3;
  std::uint64_t seed = 1;
};

struct alignas(8) Buffer {
  std::array<std::byte, sizeof(ib_user_mad) + kMadSize> bytes{};

  [[nodiscard]] void* raw() { return bytes.data(); }

  [[nodiscard]] std::byte* mad() { return static_cast<std::byte*>(umad_get_mad(raw())); }
};

class Load {
 public:
  Load(std::vector<Guid> guids, const Options& options)
      : guids_(std::move(guids)), options_(options), rng_(options.seed) {}

  bool open() {
    if (umad_init() < 0) return false;
    umad_port_t port{};
    if (umad_get_port(nullptr, 0, &port) < 0) return false;
    sm_lid_ = static_cast<std::uint16_t>(port.sm_lid);
    umad_release_port(&port);
    fd_ = umad_open_port(nullptr, 0);
    if (fd_ < 0) return false;
    agent_ =
        umad_register(fd_, static_cast<int>(MgmtClass::SubnAdm), sa::kClassVersion, 0, nullptr);
    return agent_ >= 0;
  }

  void run() {
    began_ = Clock::now();
    const auto end = began_ + std::chrono::duration<double>(options_.seconds);
    while (Clock::now() < end) {
      while (asked_.size() < options_.window) ask();
      take(100);
      give_up_old();
    }
    took_ = std::chrono::duration<double>(Clock::now() - began_).count();
  }

  [[nodiscard]] nlohmann::json report() {
    std::ranges::sort(waits_);
    const auto at = [this](double share) {
      return waits_.empty()
                 ? 0.0
                 : waits_[static_cast<std::size_t>(share * static_cast<double>(waits_.size() - 1))];
    };
    return {{"answered", waits_.size()},
            {"refused", refused_},
            {"lost", lost_},
            {"seconds", took_},
            {"per_second", static_cast<double>(waits_.size()) / took_},
            {"p50_us", at(0.5)},
            {"p99_us", at(0.99)},
            {"max_us", at(1)}};
  }

 private:
  [[nodiscard]] Gid any() { return {kDefaultSubnetPrefix, guids_[rng_.below(guids_.size())]}; }

  void ask() {
    Buffer buffer;
    const std::uint32_t transaction = ++transaction_;
    const std::span<std::byte> mad(buffer.mad(), kMadSize);
    sa::encode_sa_header(
        {.mad = {.mgmt_class = static_cast<std::uint8_t>(MgmtClass::SubnAdm),
                 .class_version = sa::kClassVersion,
                 .method = static_cast<std::uint8_t>(Method::Get),
                 .transaction_id = transaction,
                 .attribute_id = static_cast<std::uint16_t>(sa::RecordId::PathRecord)},
         .component_mask =
             sa::path_component::kSgid | sa::path_component::kDgid | sa::path_component::kNumbPath},
        mad);
    sa::encode_record(sa::PathRecord{.dgid = any(), .sgid = any(), .numb_path = 1},
                      mad.subspan(sa::kHeaderSize));
    umad_set_addr(buffer.raw(), sm_lid_, 1, 0, static_cast<int>(kGsiQKey));
    asked_[transaction] = Clock::now();
    if (umad_send(fd_, agent_, buffer.raw(), kMadSize, kKernelTimeoutMs, 0) < 0) {
      asked_.erase(transaction);
      ++lost_;
    }
  }

  void take(int patience_ms) {
    Buffer buffer;
    int length = kMadSize;
    if (umad_recv(fd_, buffer.raw(), &length, patience_ms) < 0) return;
    const auto header = sa::decode_sa_header({buffer.mad(), kMadSize});
    if (!header) return;
    const auto found = asked_.find(static_cast<std::uint32_t>(header->mad.transaction_id));
    if (found == asked_.end()) return;
    if (umad_status(buffer.raw()) != 0) {
      ++lost_;
    } else if (header->mad.status != 0) {
      ++refused_;
    } else {
      waits_.push_back(
          std::chrono::duration<double, std::micro>(Clock::now() - found->second).count());
    }
    asked_.erase(found);
  }

  void give_up_old() {
    while (!asked_.empty() && Clock::now() - asked_.begin()->second > kGivenUp) {
      asked_.erase(asked_.begin());
      ++lost_;
    }
  }

  std::vector<Guid> guids_;
  Options options_;
  Rng rng_;
  int fd_ = -1;
  int agent_ = -1;
  std::uint16_t sm_lid_ = 0;
  std::uint32_t transaction_ = 0;
  std::map<std::uint32_t, Clock::time_point> asked_;  // in the order in which they were asked
  std::vector<double> waits_;                         // us
  std::uint64_t refused_ = 0;
  std::uint64_t lost_ = 0;
  Clock::time_point began_;
  double took_ = 0;
};

}  // namespace
}  // namespace smd::bench

int main(int argc, char** argv) {
  using namespace smd::bench;
  Options options;
  smd::CommandLine line{"asks the subnet administration for paths"};
  line.option("--guids", options.guids, "File of port GUIDs, one a line").required();
  line.option("--window", options.window, "Requests in flight").range(1, 128);
  line.option("--seconds", options.seconds, "How long").positive();
  line.option("--seed", options.seed, "Seed of the pairs");
  if (const auto code = line.parse(argc, argv)) return *code;
  std::vector<smd::Guid> guids;
  std::ifstream file(options.guids);
  for (std::uint64_t guid = 0; file >> std::hex >> guid;) guids.emplace_back(guid);
  if (guids.empty()) {
    fmt::print(stderr, "sa_load: no GUIDs in {}\n", options.guids);
    return 2;
  }
  Load load(std::move(guids), options);
  if (!load.open()) {
    fmt::print(stderr, "sa_load: no port\n");
    return 1;
  }
  load.run();
  fmt::print("{}\n", load.report().dump());
  std::fflush(stdout);
  // libumad2sim's exit handler may hang with answers under way.
  std::_Exit(0);
}
