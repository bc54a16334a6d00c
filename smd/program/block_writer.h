// Writes forwarding blocks, all of a list before anything that follows.
//
// Sent is not confirmed: from the moment a Set goes out until a matching answer is in, what the
// switch holds in that block is unknown. A Set that was refused, lost or kept otherwise is looked
// after once; what the switch then says it holds is confirmed, whatever it is. Unless it
// contradicts itself: then nothing is known.
#pragma once

#include "smd/program/stage.h"

namespace smd {

struct BlockWrite {
  SwitchIdx sw;
  std::uint32_t number = 0;
  AttributeId table = AttributeId::LinearForwardingTable;  // or RandomForwardingTable
  SmpData data{};
};

class BlockWriter {
 public:
  using Done = std::function<void(Unconfirmed)>;

  BlockWriter(ProgramRun& run, Stage& stage) : run_(run), stage_(stage) {}

  BlockWriter(const BlockWriter&) = delete;

  void write(std::vector<BlockWrite> blocks, Done done);

  /// Confirms what the switches answer; their data is not looked at.
  void read(std::vector<BlockWrite> blocks, std::function<void()> done);

 private:
  void send(const BlockWrite& block);
  void look(const BlockWrite& block, std::string why, std::optional<SmpData> said);
  void ask(const BlockWrite& block,
           Method method,
           std::function<void(const Result<SmpReply>&)> on_reply);
  void forget(const BlockWrite& block);

  ProgramRun& run_;
  Stage& stage_;
  Unconfirmed unconfirmed_;
};

}  // namespace smd
