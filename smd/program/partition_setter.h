// P_Key tables: of end ports, and of the switch ports that enforce them. Reads what it does not
// know, writes blocks that differ, compares every answer. A block that brings the key of the
// default partition is confirmed before any other of its table is written, so that no port is ever
// without a key to reach the subnet administration.
//
// Enforcement itself is a part of PortInfo: it is put on by whoever sets ports, and only where the
// table behind it is confirmed.
#pragma once

#include "smd/program/program_run.h"

namespace smd {

class PartitionSetter {
 public:
  PartitionSetter(ProgramRun& run, SmpBatch& batch) : run_(run), batch_(batch) {}

  PartitionSetter(const PartitionSetter&) = delete;

  void start(std::function<void()> done);

 private:
  /// One table that shall be so.
  struct Site {
    PortIdx port;
    PortIdx end_port;  // the same, or whom it stands before
    bool enforcement = false;
    std::vector<PKey> keys;
    PKey first;
    KeyTable before;  // of a port that comes up, if it was known
    KeyTable now;     // read, or confirmed
    KeyTable wanted;  // as long as `now`
    bool failed = false;
  };

  struct Block {
    std::size_t site = 0;
    std::uint16_t number = 0;
  };

  void collect();
  void read();
  void arrange();
  void write(bool default_blocks, std::function<void()> next);
  void send(const Block& block);
  void finish();

  [[nodiscard]] bool brings_default(const Block& block) const;
  [[nodiscard]] SmpRequest request(const Block& block, Method method) const;
  void take(const Block& block, const PKeyBlock& answer);
  void fail(const Block& block, const std::string& what);
  [[nodiscard]] PortRef ref_of(PortIdx port) const;

  ProgramRun& run_;
  SmpBatch& batch_;
  std::vector<Site> sites_;
  std::function<void()> done_;
};

/// `wanted` with what the port shall enforce.
[[nodiscard]] PortInfo with_enforcement(const ProgramRun& run, PortIdx port, PortInfo wanted);

}  // namespace smd
