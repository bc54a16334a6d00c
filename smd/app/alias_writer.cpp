#include "smd/app/alias_writer.h"

#include "smd/base/log.h"

namespace smd::app {
namespace {

GuidBlock block_of(Guid port, const std::vector<Guid>& further, std::size_t block) {
  GuidBlock out{};
  for (std::size_t i = 0; i < kGuidBlockSize; ++i) {
    const std::size_t index = block * kGuidBlockSize + i;
    if (index < further.size()) out[i] = further[index];
  }
  if (block == 0) out[0] = port;
  return out;
}

}  // namespace

void AliasWriter::forget(const Fabric& fabric, const std::vector<PortIdx>& ports) {
  for (const PortIdx port : ports) {
    const Guid guid = fabric.port_guid[port];
    std::erase_if(told_, [guid](const auto& each) { return each.first.first == guid; });
  }
}

void AliasWriter::write(const ActiveSubnet& now, const sa::AliasTable::Map& wanted, MKey m_key) {
  const Fabric& fabric = now.fabric();
  static const std::vector<Guid> none;
  for (const PortIdx port : now.lids->base.indices()) {
    if (now.lids->base[port] == kUnassignedLid) continue;
    const Guid guid = fabric.port_guid[port];
    const auto found = wanted.find(guid);
    const std::vector<Guid>& further = found == wanted.end() ? none : found->second;
    const std::size_t guids = fabric.port_info[port].guid_cap;
    for (std::size_t block = 0; block * kGuidBlockSize < guids; ++block) {
      const Key key{guid, static_cast<std::uint8_t>(block)};
      const GuidBlock content = block_of(guid, further, block);
      const auto told = told_.find(key);
      // Who never had any is not asked to forget them.
      const bool has_any = content != block_of(guid, none, block);
      if (told == told_.end() ? !has_any : told->second == content) continue;
      if (!under_way_.insert(key).second) continue;
      SmpRequest request{.route = SmpRoute::directed(path_to(now.sweep, port)),
                         .method = Method::Set,
                         .attribute = AttributeId::GuidInfo,
                         .modifier = static_cast<std::uint32_t>(block),
                         .m_key = m_key};
      encode_guid_block(content, request.data);
      scope_.send(request, [this, key, content](const Result<SmpReply>& reply) {
        under_way_.erase(key);
        if (reply && reply->status == 0) {
          told_[key] = content;
        } else {
          log::warn("alias.write_failed",
                    "port={} block={} why=\"{}\"; tried again after the next cycle",
                    key.first,
                    key.second,
                    reply ? print_mad_status(reply->status) : reply.error().context);
        }
      });
    }
  }
}

}  // namespace smd::app
