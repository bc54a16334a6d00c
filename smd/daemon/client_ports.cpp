// SMPs to the ports of clients.
#include "smd/daemon/client_ports.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "smd/base/log.h"
#include "smd/policy/port_policy.h"

namespace smd {

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

void ClientReregistration::restore(const ClientRecords& records) {
  owed_ = records.lapsed;
  if (!records.complete) owed_.insert(records.in_service.begin(), records.in_service.end());
}

void ClientReregistration::note_came_up(const Fabric& fabric, const std::vector<PortIdx>& ports) {
  for (const PortIdx port : ports) came_up_.insert(fabric.port_guid[port]);
}

void ClientReregistration::call(const ActiveSubnet& now,
                                const std::vector<Guid>& before,
                                const std::vector<Guid>& after,
                                MKey m_key) {
  const std::set<Guid> known = std::exchange(came_up_, {});
  for (const Guid guid : known) owed_.erase(guid);
  std::vector<Guid> fresh;
  std::ranges::set_difference(after, before, std::back_inserter(fresh));
  for (const Guid guid : fresh) {
    if (!known.contains(guid)) owed_.insert(guid);
  }
  if (owed_.empty()) return;

  const Fabric& fabric = now.fabric();
  std::set<Guid> present;
  for (const PortIdx port : now.lids->base.indices()) {
    const Guid guid = fabric.port_guid[port];
    if (now.lids->base[port] == kUnassignedLid || !owed_.contains(guid)) continue;
    const PortInfo& info = fabric.port_info[port];
    if ((info.capability_mask & port_cap::kIsClientReregistrationSupported) == 0) continue;
    present.insert(guid);
    if (!under_way_.insert(guid).second) continue;
    PortInfo body = set_body(info, PortState::NoChange);
    body.client_reregister = true;
    SmpRequest request{.route = SmpRoute::directed(path_to(now.sweep, port)),
                       .method = Method::Set,
                       .attribute = AttributeId::PortInfo,
                       .modifier = port_info_modifier(fabric, port),
                       .m_key = m_key};
    encode_port_info(body, request.data);
    scope_.send(request, [this, guid](const Result<SmpReply>& reply) {
      under_way_.erase(guid);
      if (reply && reply->status == 0) {
        ++asked_;
        owed_.erase(guid);
      }
    });
  }
  // Who is gone, or cannot be asked, is owed nothing.
  std::erase_if(owed_, [&present](Guid guid) { return !present.contains(guid); });
  if (!under_way_.empty()) log::info("clients.reregister", "ports={}", under_way_.size());
}

std::vector<Guid> ClientReregistration::without_owed(const std::vector<Guid>& guids) const {
  std::vector<Guid> out;
  std::ranges::copy_if(
      guids, std::back_inserter(out), [this](Guid guid) { return !owed_.contains(guid); });
  return out;
}

void AliasWriter::forget(const Fabric& fabric, const std::vector<PortIdx>& ports) {
  for (const PortIdx port : ports) {
    const Guid guid = fabric.port_guid[port];
    std::erase_if(confirmed_, [guid](const auto& each) { return each.first.first == guid; });
  }
}

void AliasWriter::write(const ActiveSubnet& now, const sa::AliasTable::Map& wanted, MKey m_key) {
  // Nobody has any, nor ever had.
  if (wanted.empty() && confirmed_.empty() && under_way_.empty()) return;
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
      if (const auto sent = under_way_.find(key); sent != under_way_.end()) {
        sent->second = {content, path_to(now.sweep, port), m_key};
        continue;
      }
      const auto known = confirmed_.find(key);
      // Who never had any is not asked to forget them.
      const bool has_any = content != block_of(guid, none, block);
      if (known == confirmed_.end() ? !has_any : known->second == content) continue;
      under_way_[key] = {content, path_to(now.sweep, port), m_key};
      send(key);
    }
  }
}

void AliasWriter::send(const Key& key) {
  const Wanted& wanted = under_way_.at(key);
  SmpRequest request{.route = SmpRoute::directed(wanted.path),
                     .method = Method::Set,
                     .attribute = AttributeId::GuidInfo,
                     .modifier = key.second,
                     .m_key = wanted.m_key};
  encode_guid_block(wanted.content, request.data);
  scope_.send(request, [this, key, content = wanted.content](const Result<SmpReply>& reply) {
    if (reply && reply->status == 0) {
      confirmed_[key] = content;
    } else {
      if (!reply) confirmed_[key].reset();  // it may have been obeyed
      log::warn("alias.write_failed",
                "port={} block={} why=\"{}\"; tried again after the next cycle",
                key.first,
                key.second,
                reply ? print_mad_status(reply->status) : reply.error().context);
    }
    if (under_way_.at(key).content != content) return send(key);
    under_way_.erase(key);
  });
}

void TableReader::adopt(std::shared_ptr<const ActiveSubnet> now, MKey m_key) {
  now_ = std::move(now);
  m_key_ = m_key;
}

void TableReader::read(const std::vector<sa::TableBlock>& blocks) {
  auto job = std::make_shared<Job>();
  for (const sa::TableBlock& block : blocks) {
    if (pending_.insert(block).second) job->left.push_back(block);
  }
  if (job->left.empty()) return;
  jobs_.push_back(std::move(job));
  if (!std::exchange(ticking_, true))
    tick_ = Timer(runtime_, runtime_.now(), [this] {
      ticking_ = false;
      in_tick_ = 0;
      pump();
    });
}

void TableReader::pump() {
  while (!jobs_.empty() && outstanding_ < kAtOnce && in_tick_ < kPerTick) {
    const std::shared_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    const sa::TableBlock block = job->left.front();
    job->left.pop_front();
    ++job->outstanding;
    if (!job->left.empty()) jobs_.push_back(job);
    send(job, block);
  }
  if (jobs_.empty() || std::exchange(ticking_, true)) return;
  tick_ = Timer(runtime_, runtime_.now() + kTick, [this] {
    ticking_ = false;
    in_tick_ = 0;
    pump();
  });
}

void TableReader::send(const std::shared_ptr<Job>& job, const sa::TableBlock& block) {
  ++in_tick_;
  const auto node = now_ ? now_->fabric().find_node(block.node) : std::nullopt;
  if (!node) return finish(job, block, std::nullopt);
  const Fabric& fabric = now_->fabric();
  const HopPath path = fabric.is_switch(*node)
                           ? now_->sweep.path[*node]
                           : path_to(now_->sweep, fabric.port_of(*node, block.port));
  ++outstanding_;
  ++sent_;
  scope_.send({.route = SmpRoute::directed(path),
               .method = Method::Get,
               .attribute = block.attribute,
               .modifier = block.modifier,
               .m_key = m_key_},
              [this, job, block](const Result<SmpReply>& reply) {
                --outstanding_;
                const bool good = reply && reply->status == 0;
                finish(job, block, good ? std::optional(reply->data) : std::nullopt);
                pump();
              });
}

void TableReader::finish(const std::shared_ptr<Job>& job,
                         const sa::TableBlock& block,
                         const std::optional<SmpData>& data) {
  pending_.erase(block);
  held_.note(block, data);
  if (--job->outstanding == 0 && job->left.empty()) on_read_();
}

}  // namespace smd
