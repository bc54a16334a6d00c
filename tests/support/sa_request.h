// What clients of the subnet administration send, as packets.
#pragma once

#include "smd/sa/group_manager.h"
#include "smd/sa/sa_mad.h"
#include "smd/transport/transport.h"

namespace smd::test {

struct SaRequest {
  Lid manager;
  std::uint64_t transaction = 1;
  Method method = Method::Set;
  sa::RecordId id = sa::RecordId::McMemberRecord;
  std::uint64_t mask = 0;
  SmKey sm_key = {};  // shown as that of a trusted request
};

/// `size`: of the encoded record.
template <class Record>
[[nodiscard]] MadPacket encode_sa_request(const SaRequest& request,
                                          const Record& record,
                                          std::size_t size) {
  MadPacket out{.remote_lid = request.manager, .local_qp = 1, .remote_qp = 1};
  sa::encode_sa_header({.mad = {.mgmt_class = 3,
                                .class_version = sa::kClassVersion,
                                .method = static_cast<std::uint8_t>(request.method),
                                .transaction_id = request.transaction,
                                .attribute_id = static_cast<std::uint16_t>(request.id)},
                        .sm_key = request.sm_key,
                        .component_mask = request.mask},
                       out.mad);
  encode_record(record, std::span(out.mad).subspan(sa::kHeaderSize, size));
  return out;
}

[[nodiscard]] inline Gid mgid(std::uint64_t group) { return {0xff12401bffff0000u, Guid{group}}; }

/// Of who joins a group, and creates it where it is not there yet.
inline constexpr std::uint64_t kJoinMask =
    sa::member_component::kMgid | sa::member_component::kPortGid |
    sa::member_component::kJoinState | sa::member_component::kQKey | sa::member_component::kPKey |
    sa::member_component::kTclass | sa::member_component::kFlowLabel | sa::member_component::kSl;
inline constexpr std::uint64_t kLeaveMask =
    sa::member_component::kMgid | sa::member_component::kPortGid | sa::member_component::kJoinState;

[[nodiscard]] inline sa::McMemberRecord joining(std::uint64_t group,
                                                const Gid& port,
                                                std::uint8_t state = 1) {
  return {.mgid = mgid(group),
          .port_gid = port,
          .q_key = 0xb1b,
          .p_key = kDefaultPKey,
          .join_state = state};
}

}  // namespace smd::test
