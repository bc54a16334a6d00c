#include "smd/app/congestion_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace smd::app {
namespace {

using cc::Attribute;

constexpr std::uint32_t kGsiQp = 1;
constexpr std::uint32_t kGsiQKey = 0x80010000;

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

void CcAgent::aim(CcGoal goal) {
  // Ports that were told something of their own are told that it no longer holds.
  if (goal.of_switch && goal.of_ports.size() < goal_.of_ports.size())
    goal.of_ports.resize(goal_.of_ports.size());
  if (goal == goal_) return;
  if (goal.key != goal_.key) {
    const bool shut_out = standing_ == CcStanding::ForeignKey || standing_ == CcStanding::Silent;
    if (shut_out) forget();
    const auto& held = registers_.key.held;
    if (held && held->key == goal_.key && held->key != cc::CcKey{}) borrowed_ = held->key;
    tried_ = 0;
  }
  goal_ = std::move(goal);
  disobeyed_ = refused_ = 0;
  trouble_.clear();
  registers_.try_all();
}

void CcAgent::forget() {
  const CcGoal goal = std::move(goal_);
  *this = CcAgent(is_switch_);
  goal_ = goal;
}

void CcAgent::try_again() {
  if (standing_ == CcStanding::Silent || standing_ == CcStanding::ForeignKey) {
    standing_ = CcStanding::Unknown;
    tried_ = 0;
    borrowed_.reset();
    unread_all();
  }
}

std::optional<CcRequest> CcAgent::next() {
  if (standing_ != CcStanding::Unknown && standing_ != CcStanding::Managed) return std::nullopt;
  if (!registers_.key.held) return CcRequest{.attribute = Attribute::CongestionKeyInfo};
  if (!info_) return CcRequest{.attribute = Attribute::CongestionInfo};
  for (const auto part : {&CcAgent::next_of_key,
                          &CcAgent::next_of_traps,
                          &CcAgent::next_of_switch,
                          &CcAgent::next_of_adapter}) {
    if (const auto request = (this->*part)()) return request;
  }
  standing_ = CcStanding::Managed;
  return std::nullopt;
}

template <class T>
std::optional<CcRequest> CcAgent::settle(CcRegister<T>& reg,
                                         const T& wish,
                                         Attribute attribute,
                                         std::uint32_t modifier) {
  if (reg.given_up) return std::nullopt;
  const CcRequest read{.attribute = attribute, .modifier = modifier};
  if (!reg.held) return read;
  if (holds(*reg.held, wish)) {
    reg.asked.reset();
    return std::nullopt;
  }
  if (reg.asked && holds(*reg.asked, wish)) {
    ++disobeyed_;
    give_up(read, "it answers the Set and keeps what it had");
    return std::nullopt;
  }
  reg.asked = wish;
  return CcRequest{.set = true, .attribute = attribute, .modifier = modifier};
}

std::optional<CcRequest> CcAgent::next_of_key() {
  const auto& held = registers_.key.held;
  const bool foreign = held && held->key != cc::CcKey{} && held->key != goal_.key;
  if (!goal_.protect && !foreign) return std::nullopt;
  cc::KeyInfo wish = goal_.protect.value_or(cc::KeyInfo{.key = goal_.key});
  wish.violations = violations();
  return settle(registers_.key, wish, Attribute::CongestionKeyInfo);
}

std::optional<CcRequest> CcAgent::next_of_traps() {
  const auto& held = registers_.traps.held;
  const bool sends_none = held && (held->capability_mask & cc::kIsTrapSupported) == 0;
  if (goal_.trap_lid == kUnassignedLid || sends_none) return std::nullopt;
  cc::ClassPortInfo wish = held.value_or(cc::ClassPortInfo{});
  wish.trap_lid = goal_.trap_lid;
  wish.trap_qp = kGsiQp;
  wish.trap_q_key = kGsiQKey;
  wish.trap_p_key = kDefaultPKey;
  return settle(registers_.traps, wish, Attribute::ClassPortInfo);
}

std::optional<CcRequest> CcAgent::next_of_switch() {
  if (!goal_.of_switch) return std::nullopt;
  auto request = settle(registers_.of_switch, *goal_.of_switch, Attribute::SwitchCongestionSetting);
  auto& ports = registers_.of_ports;
  ports.resize(goal_.of_ports.size());
  for (std::size_t i = 0; i < ports.size() && !request; ++i) {
    const auto block = static_cast<std::uint32_t>(i);
    request = settle(ports[i], goal_.of_ports[i], Attribute::SwitchPortCongestionSetting, block);
  }
  return request;
}

/// The table first: an index must not stand where nothing was written yet.
std::optional<CcRequest> CcAgent::next_of_adapter() {
  if (!goal_.of_adapter) return std::nullopt;
  const std::vector<cc::CctBlock>& wish = goal_.of_adapter->table;
  if (wish.size() > info_->table_blocks) {
    if (trouble_.empty()) {
      ++refused_;
      trouble_ = fmt::format(
          "its table has {} blocks of 64 entries; {} are needed", info_->table_blocks, wish.size());
    }
    return std::nullopt;
  }
  auto& table = registers_.table;
  table.resize(wish.size());
  for (std::size_t i = 0; i < wish.size(); ++i) {
    const auto block = static_cast<std::uint32_t>(i);
    const auto request = settle(table[i], wish[i], Attribute::CongestionControlTable, block);
    if (request) return request;
    // An adapter without its table is not told to use it.
    if (table[i].given_up) return std::nullopt;
  }
  return settle(registers_.of_adapter, goal_.of_adapter->setting, Attribute::CaCongestionSetting);
}

MadBytes CcAgent::make(const CcRequest& request) const {
  MadBytes mad = make_cc_mad(request, key());
  if (request.set) registers_.write(request, mad);
  return mad;
}

/// A key that is hidden reads 0 under protection.
void CcAgent::take_key(const cc::KeyInfo& info) {
  const bool hidden = info.key == cc::CcKey{} && info.protect;
  if (!hidden) {
    if (info.key != cc::CcKey{} && info.key != goal_.key) borrowed_ = info.key;
    registers_.key.held = info;
    knocked_ = false;
    return;
  }
  foreign_lease_s_ = info.lease_s;
  borrowed_.reset();
  if (tried_ < goal_.former.size()) {
    borrowed_ = goal_.former[tried_++];
  } else {
    standing_ = CcStanding::ForeignKey;
  }
}

void CcAgent::take_get(const CcRequest& request, const MadBytes& answer) {
  const auto data = std::span(answer).subspan(cc::kDataOffset);
  if (request.attribute == Attribute::CongestionKeyInfo)
    return take_key(*cc::decode_key_info(data));
  if (request.attribute == Attribute::CongestionInfo) {
    info_ = *cc::decode_congestion_info(data);
    return;
  }
  registers_.take(request, answer);
}

/// Nobody knows what became of the last Set.
void CcAgent::unread_all() {
  registers_ = {};
  info_.reset();
}

void CcAgent::give_up(const CcRequest& request, std::string_view why) {
  registers_.give_up(request);
  if (trouble_.empty())
    trouble_ = fmt::format(
        "{}: {}", cc::print_attribute(static_cast<std::uint16_t>(request.attribute)), why);
}

void CcAgent::take(const CcRequest& request, const MadBytes& answer) {
  const std::uint16_t status = decode_mad_header(answer)->status;
  if (status == 0) {
    silences_ = 0;
    if (!request.set) return take_get(request, answer);
    if (request.attribute == Attribute::CongestionKeyInfo) {
      borrowed_.reset();  // it is under ours now, or says otherwise when it is asked
      tried_ = 0;
    }
    return registers_.unread(request);
  }
  if (status == static_cast<std::uint16_t>(MadStatus::Busy)) return lose();
  const bool first = request.attribute == Attribute::CongestionKeyInfo ||
                     request.attribute == Attribute::CongestionInfo;
  if (!request.set && first) {
    standing_ = CcStanding::Unsupported;
    return;
  }
  ++refused_;
  give_up(request, fmt::format("refused with status {}", print_mad_status(status)));
}

void CcAgent::lose() {
  standing_ = CcStanding::Silent;
  ++silences_;
  unread_all();
}

bool CcAgent::is_as_wished() const {
  if (standing_ != CcStanding::Managed || !trouble_.empty()) return false;
  const auto& of_switch = registers_.of_switch.held;
  const auto& of_adapter = registers_.of_adapter.held;
  if (goal_.of_switch) {
    if (!of_switch || !holds(*of_switch, *goal_.of_switch)) return false;
    return std::ranges::equal(
        registers_.of_ports, goal_.of_ports, [](const auto& reg, const auto& wish) {
          return reg.held && holds(*reg.held, wish);
        });
  }
  if (goal_.of_adapter) return of_adapter && holds(*of_adapter, goal_.of_adapter->setting);
  return true;
}

}  // namespace smd::app
