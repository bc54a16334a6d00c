// The way from a partition to one of another process. What is posted leaves with the agreement that
// follows, in the message that goes with it.
#pragma once

#include <span>
#include <vector>

#include "sim-backend/kernel/process_team.h"
#include "sim-backend/packet/partition_link.h"

namespace smd::sim {

class ProcessLink final : public PartitionLink, public ProcessChannel {
 public:
  void post(const Crossing& crossing) override { posted_.push_back(crossing); }

  void close() override {}

  [[nodiscard]] std::span<const Crossing> take() override { return arrived_; }

  void write(Processes::Bytes& out) override;
  [[nodiscard]] bool read(std::span<const std::byte>& in) override;

 private:
  std::vector<Crossing> posted_;
  std::vector<Crossing> arrived_;
};

}  // namespace smd::sim
