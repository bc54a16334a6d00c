#include "smd/sa/alias_manager.h"

#include <algorithm>
#include <utility>

#include "smd/sa/node_records.h"

namespace smd::sa {
namespace {

/// Locally administered, so that no maker's GUID is like it.
constexpr std::uint64_t kInvented = 0x0253'4d44'0000'0000;

constexpr std::uint64_t kLidAndBlock = component_bit(0) | component_bit(1);
constexpr unsigned kFirstGuid = 4;  // component of GID0

}  // namespace

Guid AliasTable::at(Guid port, std::size_t index) const {
  const auto found = ports_.find(port);
  return found == ports_.end() || index >= found->second.size() ? Guid{} : found->second[index];
}

Guid AliasTable::owner_of(Guid alias) const {
  const auto found = owners_.find(alias);
  return found == owners_.end() ? Guid{} : found->second;
}

/// The view may not know yet who got which, so of ports their own GUIDs count alone.
bool AliasTable::is_free(const SubnetView& view, Guid guid, const Check& reserved) const {
  if (guid == Guid{} || view.fabric().find_node(guid)) return false;
  const Guid owner = owner_of(guid);
  if (owner != Guid{} && view.find_port(owner) != kNone<PortIdx>) return false;
  const PortIdx port = view.find_port(guid);
  if (port != kNone<PortIdx> && view.fabric().port_guid[port] == guid) return false;
  return reserved == nullptr || !reserved(guid);
}

/// Of a port that is gone: a virtual machine may have moved, and nobody there can give it back.
void AliasTable::take_away(Guid guid) {
  const auto owner = owners_.find(guid);
  if (owner == owners_.end()) return;
  const Guid port = owner->second;
  const std::vector<Guid>& entries = ports_.at(port);
  const auto at = std::ranges::find(entries, guid);
  erase(port, static_cast<std::size_t>(at - entries.begin()));
}

Guid AliasTable::invent(const SubnetView& view) {
  for (;;) {
    const Guid guid{kInvented | (++invented_ & 0xffffffff)};
    if (is_free(view, guid, nullptr)) return guid;
  }
}

void AliasTable::write(Guid port, std::size_t index, Guid guid) {
  std::vector<Guid>& entries = ports_[port];
  if (entries.size() <= index) entries.resize(index + 1);
  entries[index] = guid;
  owners_[guid] = port;
  changed_.note(port);
}

Guid AliasTable::put(
    const SubnetView& view, Guid port, std::size_t index, Guid wanted, const Check& reserved) {
  const Guid now = at(port, index);
  if (now != Guid{} && (wanted == Guid{} || wanted == now)) return now;
  if (wanted != Guid{} && !is_free(view, wanted, reserved)) return Guid{};
  if (now == Guid{} && room_of(port) == 0) return Guid{};
  const Guid chosen = wanted == Guid{} ? invent(view) : wanted;
  take_away(chosen);
  erase(port, index);
  write(port, index, chosen);
  return chosen;
}

/// Entries that the port may still get.
std::size_t AliasTable::room_of(Guid port) const {
  const auto found = ports_.find(port);
  const auto own = found == ports_.end()
                       ? std::size_t{0}
                       : found->second.size() -
                             static_cast<std::size_t>(std::ranges::count(found->second, Guid{}));
  if (own >= limits_.of_one_port || owners_.size() >= limits_.all) return 0;
  return std::min(limits_.of_one_port - own, limits_.all - owners_.size());
}

bool AliasTable::has_room(const SubnetView& view,
                          Guid port,
                          const std::map<std::size_t, Guid>& wanted,
                          const Check& reserved) const {
  const auto more = std::ranges::count_if(wanted, [&](const auto& each) {
    return at(port, each.first) == Guid{} &&
           (each.second == Guid{} || is_free(view, each.second, reserved));
  });
  return static_cast<std::size_t>(more) <= room_of(port);
}

bool AliasTable::erase(Guid port, std::size_t index) {
  const Guid now = at(port, index);
  if (now == Guid{}) return false;
  owners_.erase(now);
  changed_.note(port);
  std::vector<Guid>& entries = ports_.at(port);
  entries[index] = Guid{};
  while (!entries.empty() && entries.back() == Guid{}) entries.pop_back();
  if (entries.empty()) ports_.erase(port);
  return true;
}

void AliasTable::restore(const Map& map) {
  ports_.clear();
  owners_.clear();
  changed_.note_everything();
  for (const auto& [port, entries] : map) {
    for (std::size_t i = 1; i < entries.size(); ++i) {
      if (entries[i] != Guid{} && !owners_.contains(entries[i]) && room_of(port) > 0)
        write(port, i, entries[i]);
    }
  }
}

std::optional<Answer> AliasManager::answer(const SubnetView& view, const Query& query) {
  if (static_cast<RecordId>(query.header.mad.attribute_id) != RecordId::GuidInfoRecord)
    return std::nullopt;
  switch (static_cast<Method>(query.header.mad.method)) {
    case Method::Set:
    case Method::Delete:
      return change(view, query);
    case Method::GetTable:
      return find_guid_infos(view, query, {}, table_.all());
    case Method::Get:
      return only_one(find_guid_infos(view, query, {}, table_.all()));
    default:
      return std::nullopt;
  }
}

/// A view is made for what changed, which costs as much as looking at every port. Who is told that
/// a GUID is there goes on to use it: the answer waits for that view.
Answer AliasManager::change(const SubnetView& view, const Query& query) {
  const bool erases = static_cast<Method>(query.header.mad.method) == Method::Delete;
  const std::uint64_t mask = query.header.component_mask;
  if ((mask & kLidAndBlock) != kLidAndBlock) return {.status = Status::InsufficientComponents};
  GuidInfoRecord record = *decode_guid_info_record(query.data);
  const PortIdx port = view.lids().owner_of(record.lid);
  const std::size_t first = std::size_t{record.block} * kGuidBlockSize;
  if (port == kNone<PortIdx> || first >= view.fabric().port_info[port].guid_cap)
    return {.status = Status::RequestInvalid};
  if (view.lids().owner_of(query.client.lid) != port && !query.trusted)
    return {.status = Status::Denied};

  const Guid guid = view.fabric().port_guid[port];
  record.lid = view.lids().base[port];
  std::map<std::size_t, Guid> wanted;
  for (unsigned i = 0; i < kGuidBlockSize; ++i) {
    const std::size_t index = first + i;
    if ((mask & component_bit(kFirstGuid + i)) != 0 && index != 0 &&
        index < view.fabric().port_info[port].guid_cap)
      wanted.emplace(index, record.guids[i]);
  }
  const AliasTable::Check reserved = query.trusted ? nullptr : reserved_;
  if (!erases && !table_.has_room(view, guid, wanted, reserved))
    return {.status = Status::NoResources};
  bool changed = false;
  bool awaits_view = false;
  for (unsigned i = 0; i < kGuidBlockSize; ++i) {
    const std::size_t index = first + i;
    const bool named = (mask & component_bit(kFirstGuid + i)) != 0;
    const Guid before = table_.at(guid, index);
    if (index == 0) {
      record.guids[i] = guid;  // not to be changed
      continue;
    }
    if (index >= view.fabric().port_info[port].guid_cap) {
      record.guids[i] = Guid{};
    } else if (!named) {
      record.guids[i] = table_.at(guid, index);
    } else if (erases) {
      table_.erase(guid, index);
      record.guids[i] = Guid{};
    } else {
      record.guids[i] = table_.put(view, guid, index, record.guids[i], reserved);
    }
    changed = changed || table_.at(guid, index) != before;
    awaits_view = awaits_view || table_.at(guid, index) != view.guid_of(port, index);
  }
  if (changed) on_change_();
  Answer answer{.offset = kGuidInfoRecord.offset(),
                .records = std::vector<std::byte>(kGuidInfoRecord.size),
                .cost = changed ? std::max(view.end_ports().size(), std::size_t{1}) : 1,
                .awaits_view = awaits_view};
  encode_record(record, answer.records);
  return answer;
}

}  // namespace smd::sa
