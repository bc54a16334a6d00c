#include "smd/program/read_back.h"

#include <algorithm>
#include <utility>

namespace smd {

std::vector<TableBlock> find_unread_blocks(const Fabric& fabric,
                                           Lid top,
                                           const ConfirmedTables& confirmed) {
  std::vector<TableBlock> blocks;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const std::uint16_t held = fabric.switch_info[sw].linear_fdb_top;
    if (held == 0) continue;
    const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
    const auto last = static_cast<std::uint32_t>(std::min(held, top.value()) / kLftBlockSize);
    for (std::uint32_t block = 0; block <= last; ++block) {
      if (confirmed.find_block(guid, block) == nullptr) blocks.push_back({sw, block});
    }
  }
  return blocks;
}

void ReadBack::start(const SweepReport& report,
                     std::vector<TableBlock> blocks,
                     ConfirmedTables& confirmed,
                     Done done) {
  blocks_ = std::move(blocks);
  next_ = 0;
  pump_.start(
      [this, &report, &confirmed] {
        if (next_ == blocks_.size()) return false;
        const TableBlock block = blocks_[next_++];
        const NodeIdx node = report.fabric->switch_node[block.sw];
        pump_.send({.route = SmpRoute::directed(report.path[node]),
                    .attribute = AttributeId::LinearForwardingTable,
                    .modifier = block.block,
                    .m_key = m_key_},
                   [&report, &confirmed, node, block](const Result<SmpReply>& reply) {
                     if (!reply || reply->status != 0) return;
                     if (const auto held = decode_lft_block(reply->data))
                       confirmed.confirm(report.fabric->node_guid[node], block.block, *held);
                   });
        return true;
      },
      [count = static_cast<std::uint64_t>(blocks_.size()), done = std::move(done)] {
        done(count);
      });
}

}  // namespace smd
