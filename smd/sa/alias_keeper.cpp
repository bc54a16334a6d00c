#include "smd/sa/alias_keeper.h"

#include <utility>

#include "smd/sa/node_records.h"

namespace smd::sa {
namespace {

constexpr std::uint64_t kLidAndBlock = component_bit(0) | component_bit(1);
constexpr unsigned kFirstGuid = 4;  // component of GID0

}  // namespace

std::optional<Answer> AliasKeeper::answer(const SubnetView& view, const Query& query) {
  const auto method = static_cast<Method>(query.header.mad.method);
  const bool erases = method == Method::Delete;
  if (static_cast<RecordId>(query.header.mad.attribute_id) != RecordId::GuidInfoRecord ||
      (method != Method::Set && !erases))
    return std::nullopt;
  const std::uint64_t mask = query.header.component_mask;
  if ((mask & kLidAndBlock) != kLidAndBlock)
    return Answer{.status = Status::InsufficientComponents};
  GuidInfoRecord record = *decode_guid_info_record(query.data);
  const PortIdx port = view.lids().owner_of(record.lid);
  const std::size_t first = std::size_t{record.block} * kGuidBlockSize;
  if (port == kNone<PortIdx> || first >= view.fabric().port_info[port].guid_cap)
    return Answer{.status = Status::RequestInvalid};
  if (view.lids().owner_of(query.client.lid) != port && !query.trusted)
    return Answer{.status = Status::Denied};

  const Guid guid = view.fabric().port_guid[port];
  record.lid = view.lids().base[port];
  std::map<std::size_t, Guid> wanted;
  for (unsigned i = 0; i < kGuidBlockSize; ++i) {
    const std::size_t index = first + i;
    if ((mask & component_bit(kFirstGuid + i)) != 0 && index != 0 &&
        index < view.fabric().port_info[port].guid_cap)
      wanted.emplace(index, record.guids[i]);
  }
  if (!erases && !table_.has_room(view, guid, wanted)) return Answer{.status = Status::NoResources};
  bool changed = false;
  for (unsigned i = 0; i < kGuidBlockSize; ++i) {
    const std::size_t index = first + i;
    const bool named = (mask & component_bit(kFirstGuid + i)) != 0;
    const Guid before = table_.at(guid, index);
    if (index == 0) {
      record.guids[i] = guid;  // not to be changed
    } else if (index >= view.fabric().port_info[port].guid_cap) {
      record.guids[i] = Guid{};
    } else if (!named) {
      record.guids[i] = table_.at(guid, index);
    } else if (erases) {
      table_.erase(guid, index);
      record.guids[i] = Guid{};
    } else {
      record.guids[i] = table_.put(view, guid, index, record.guids[i]);
    }
    changed = changed || table_.at(guid, index) != before;
  }
  if (changed) on_change_();
  Answer answer{.offset = kGuidInfoRecord.offset(),
                .records = std::vector<std::byte>(kGuidInfoRecord.size)};
  encode_record(record, answer.records);
  return answer;
}

}  // namespace smd::sa
