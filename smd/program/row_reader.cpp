#include "smd/program/row_reader.h"

#include <algorithm>
#include <utility>

#include "smd/program/sl_to_vl_smp.h"
#include "smd/routing/switch_rows.h"

namespace smd {

std::vector<Turn> find_unread_rows(const Fabric& fabric, const RowMemory& known) {
  std::vector<Turn> ways;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    if (fabric.switch_info[sw].linear_fdb_top == 0) continue;
    const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
    for_each_way(fabric, sw, [&](PortNum in, PortNum out) {
      if (known.find(guid, in, out) == nullptr) ways.push_back({sw, in, out});
    });
  }
  std::ranges::sort(ways);
  return ways;
}

void RowReader::start(const SweepReport& report,
                      std::vector<Turn> ways,
                      RowMemory& known,
                      std::function<void()> done) {
  ways_ = std::move(ways);
  next_ = 0;
  pump_.start(
      [this, &report, &known] {
        if (next_ == ways_.size()) return false;
        const Turn way = ways_[next_++];
        SmpRequest request = sl_to_vl_smp(report, way);
        request.m_key = m_key_;
        pump_.send(std::move(request), [&report, &known, way](const Result<SmpReply>& reply) {
          if (!reply || reply->status != 0) return;
          const Guid guid = report.fabric->node_guid[report.fabric->switch_node[way.sw]];
          if (const auto held = decode_sl_to_vl(reply->data))
            known.confirm(guid, way.in, way.out, *held);
        });
        return true;
      },
      std::move(done));
}

}  // namespace smd
