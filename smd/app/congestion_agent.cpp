#include "smd/app/congestion_agent.h"

#include <fmt/format.h>

#include <utility>

namespace smd::app {
namespace {

using cc::Attribute;

constexpr std::uint32_t kGsiQp = 1;
constexpr std::uint32_t kGsiQKey = 0x80010000;

std::span<const std::byte> data_of(const MadBytes& mad) {
  return std::span(mad).subspan(cc::kDataOffset);
}

bool holds_key(const cc::KeyInfo& held, const cc::KeyInfo& wish) {
  return held.key == wish.key && held.protect == wish.protect && held.lease_s == wish.lease_s;
}

bool holds_traps(const cc::ClassPortInfo& held, const cc::ClassPortInfo& wish) {
  return held.trap_lid == wish.trap_lid && held.trap_qp == wish.trap_qp;
}

/// Only what the control map names counts.
bool holds_switch(const cc::SwitchSetting& held, const cc::SwitchSetting& wish) {
  const auto named = [&](std::uint32_t bit) { return (wish.control_map & bit) != 0; };
  using namespace cc::control;
  if (named(kVictimMask) && held.victim_mask != wish.victim_mask) return false;
  if (named(kCreditMask) && held.credit_mask != wish.credit_mask) return false;
  if (named(kThreshold) &&
      (held.threshold != wish.threshold || held.packet_size != wish.packet_size))
    return false;
  if (named(kCreditStarvation) &&
      (held.cs_threshold != wish.cs_threshold || held.cs_return_delay != wish.cs_return_delay))
    return false;
  return !named(kMarkingRate) || held.marking_rate == wish.marking_rate;
}

/// Likewise of the SLs.
bool holds_ca(const cc::CaSetting& held, const cc::CaSetting& wish) {
  if (wish.control_map == 0) return true;
  if (held.port_control != wish.port_control) return false;
  for (std::size_t sl = 0; sl < cc::kSls; ++sl) {
    if ((wish.control_map >> sl & 1u) != 0 && held.entries[sl] != wish.entries[sl]) return false;
  }
  return true;
}

bool holds_block(const cc::CctBlock& held, const cc::CctBlock& wish) { return held == wish; }

}  // namespace

std::string_view print_cc_standing(CcStanding standing) {
  switch (standing) {
    case CcStanding::Unknown:
      return "unknown";
    case CcStanding::Managed:
      return "managed";
    case CcStanding::Unsupported:
      return "unsupported";
    case CcStanding::Silent:
      return "silent";
    case CcStanding::ForeignKey:
      return "foreign key";
  }
  return "unknown";
}

void CcAgent::aim(const CcGoal& goal) {
  if (goal == goal_) return;
  if (goal.key != goal_.key) {
    const bool shut_out = standing_ == CcStanding::ForeignKey || standing_ == CcStanding::Silent;
    if (shut_out) forget();
  }
  goal_ = goal;
  disobeyed_ = refused_ = 0;
  trouble_.clear();
  key_.given_up = traps_.given_up = switch_.given_up = ca_.given_up = false;
  for (auto& block : table_) block.given_up = false;
}

void CcAgent::forget() {
  const CcGoal goal = std::move(goal_);
  *this = CcAgent(is_switch_);
  goal_ = goal;
}

void CcAgent::try_again() {
  if (standing_ == CcStanding::Silent || standing_ == CcStanding::ForeignKey) {
    standing_ = CcStanding::Unknown;
    unread_all();
  }
}

template <class T, class Holds>
std::optional<CcRequest> CcAgent::settle(
    CcRegister<T>& reg, const T& wish, Attribute attribute, std::uint32_t modifier, Holds holds) {
  if (reg.given_up) return std::nullopt;
  const CcRequest read{.attribute = attribute, .modifier = modifier};
  if (!reg.held) return read;
  if (holds(*reg.held, wish)) {
    reg.asked.reset();
    return std::nullopt;
  }
  if (reg.asked && holds(*reg.asked, wish)) {
    ++disobeyed_;
    give_up(read,
            fmt::format("{}: it answers the Set and keeps what it had",
                        cc::print_attribute(static_cast<std::uint16_t>(attribute))));
    return std::nullopt;
  }
  reg.asked = wish;
  return CcRequest{.set = true, .attribute = attribute, .modifier = modifier};
}

cc::ClassPortInfo CcAgent::trap_wish() const {
  cc::ClassPortInfo wish = traps_.held.value_or(cc::ClassPortInfo{});
  wish.trap_lid = goal_.trap_lid;
  wish.trap_qp = kGsiQp;
  wish.trap_q_key = kGsiQKey;
  wish.trap_p_key = kDefaultPKey;
  return wish;
}

std::optional<CcRequest> CcAgent::next() {
  if (standing_ != CcStanding::Unknown && standing_ != CcStanding::Managed) return std::nullopt;
  if (!key_.held) return CcRequest{.attribute = Attribute::CongestionKeyInfo};
  if (!info_) return CcRequest{.attribute = Attribute::CongestionInfo};
  std::optional<CcRequest> request;
  if (goal_.protect)
    request = settle(key_, *goal_.protect, Attribute::CongestionKeyInfo, 0, holds_key);
  if (!request && goal_.trap_lid != kUnassignedLid && !traps_.given_up) {
    const bool sends_none =
        traps_.held && (traps_.held->capability_mask & cc::kIsTrapSupported) == 0;
    if (!sends_none)
      request = settle(traps_, trap_wish(), Attribute::ClassPortInfo, 0, holds_traps);
  }
  if (!request && goal_.of_switch)
    request =
        settle(switch_, *goal_.of_switch, Attribute::SwitchCongestionSetting, 0, holds_switch);
  if (!request && goal_.of_adapter) request = next_of_adapter();
  if (!request) standing_ = CcStanding::Managed;
  return request;
}

/// The table first: an index must not stand where nothing was written yet.
std::optional<CcRequest> CcAgent::next_of_adapter() {
  const std::vector<cc::CctBlock>& wish = goal_.of_adapter->table;
  if (wish.size() > info_->table_blocks) {
    if (trouble_.empty()) {
      ++refused_;
      trouble_ = fmt::format(
          "its table has {} blocks of 64 entries; {} are needed", info_->table_blocks, wish.size());
    }
    return std::nullopt;
  }
  table_.resize(wish.size());
  for (std::size_t i = 0; i < wish.size(); ++i) {
    const auto request = settle(table_[i],
                                wish[i],
                                Attribute::CongestionControlTable,
                                static_cast<std::uint32_t>(i),
                                holds_block);
    if (request) return request;
    // An adapter without its table is not told to use it.
    if (table_[i].given_up) return std::nullopt;
  }
  return settle(ca_, goal_.of_adapter->setting, Attribute::CaCongestionSetting, 0, holds_ca);
}

MadBytes CcAgent::make(const CcRequest& request) const {
  MadBytes mad{};
  encode_mad_header({.mgmt_class = static_cast<std::uint8_t>(MgmtClass::CongestionControl),
                     .class_version = cc::kClassVersion,
                     .method = static_cast<std::uint8_t>(request.set ? Method::Set : Method::Get),
                     .attribute_id = static_cast<std::uint16_t>(request.attribute),
                     .attribute_modifier = request.modifier},
                    mad);
  cc::write_key(goal_.key, mad);
  if (!request.set) return mad;
  const cc::Data data = std::span<std::byte, kMadSize>(mad).subspan<cc::kDataOffset>();
  switch (request.attribute) {
    case Attribute::CongestionKeyInfo: {
      cc::KeyInfo info = *goal_.protect;
      info.violations = violations();
      cc::encode_key_info(info, data);
      break;
    }
    case Attribute::ClassPortInfo:
      cc::encode_class_port_info(trap_wish(), data);
      break;
    case Attribute::SwitchCongestionSetting:
      cc::encode_switch_setting(*goal_.of_switch, data);
      break;
    case Attribute::CaCongestionSetting:
      cc::encode_ca_setting(goal_.of_adapter->setting, data);
      break;
    default:
      cc::encode_cct_block(goal_.of_adapter->table[request.modifier], data);
      break;
  }
  return mad;
}

/// A key that is hidden reads 0 under protection.
void CcAgent::take_key(const cc::KeyInfo& info) {
  const bool hidden = info.key == cc::CcKey{} && info.protect;
  if (hidden || (info.key != cc::CcKey{} && info.key != goal_.key)) {
    standing_ = CcStanding::ForeignKey;
    return;
  }
  key_.held = info;
}

void CcAgent::take_get(const CcRequest& request, const MadBytes& answer) {
  const auto data = data_of(answer);
  switch (request.attribute) {
    case Attribute::CongestionKeyInfo:
      return take_key(*cc::decode_key_info(data));
    case Attribute::CongestionInfo:
      info_ = *cc::decode_congestion_info(data);
      return;
    case Attribute::ClassPortInfo:
      traps_.held = *cc::decode_class_port_info(data);
      return;
    case Attribute::SwitchCongestionSetting:
      switch_.held = *cc::decode_switch_setting(data);
      return;
    case Attribute::CaCongestionSetting:
      ca_.held = *cc::decode_ca_setting(data);
      return;
    default:
      if (request.modifier < table_.size())
        table_[request.modifier].held = *cc::decode_cct_block(data);
      return;
  }
}

/// After a Set: what it holds now is to be read.
void CcAgent::unread(const CcRequest& request) {
  switch (request.attribute) {
    case Attribute::CongestionKeyInfo:
      return key_.held.reset();
    case Attribute::ClassPortInfo:
      return traps_.held.reset();
    case Attribute::SwitchCongestionSetting:
      return switch_.held.reset();
    case Attribute::CaCongestionSetting:
      return ca_.held.reset();
    default:
      if (request.modifier < table_.size()) table_[request.modifier].held.reset();
      return;
  }
}

/// Nobody knows what became of the last Set.
void CcAgent::unread_all() {
  key_ = {};
  traps_ = {};
  switch_ = {};
  ca_ = {};
  table_.clear();
  info_.reset();
}

void CcAgent::give_up(const CcRequest& request, std::string trouble) {
  switch (request.attribute) {
    case Attribute::CongestionKeyInfo:
      key_.given_up = true;
      break;
    case Attribute::ClassPortInfo:
      traps_.given_up = true;
      break;
    case Attribute::SwitchCongestionSetting:
      switch_.given_up = true;
      break;
    case Attribute::CaCongestionSetting:
      ca_.given_up = true;
      break;
    default:
      if (request.modifier < table_.size()) table_[request.modifier].given_up = true;
      break;
  }
  if (trouble_.empty()) trouble_ = std::move(trouble);
}

void CcAgent::take(const CcRequest& request, const MadBytes& answer) {
  const std::uint16_t status = decode_mad_header(answer)->status;
  if (status == 0) {
    silences_ = 0;
    if (!request.set) return take_get(request, answer);
    return unread(request);
  }
  if (status == static_cast<std::uint16_t>(MadStatus::Busy)) return lose();
  const bool first = request.attribute == Attribute::CongestionKeyInfo ||
                     request.attribute == Attribute::CongestionInfo;
  if (!request.set && first) {
    standing_ = CcStanding::Unsupported;
    return;
  }
  ++refused_;
  give_up(request,
          fmt::format("{}: refused with status {}",
                      cc::print_attribute(static_cast<std::uint16_t>(request.attribute)),
                      print_mad_status(status)));
}

void CcAgent::lose() {
  standing_ = CcStanding::Silent;
  ++silences_;
  unread_all();
}

bool CcAgent::is_as_wished() const {
  if (standing_ != CcStanding::Managed || !trouble_.empty()) return false;
  if (goal_.of_switch) return switch_.held && holds_switch(*switch_.held, *goal_.of_switch);
  if (goal_.of_adapter) return ca_.held && holds_ca(*ca_.held, goal_.of_adapter->setting);
  return true;
}

}  // namespace smd::app
