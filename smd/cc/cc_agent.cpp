// What an agent shall hold, what it answered, and the next request to it.
#include "smd/cc/cc_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace smd {

namespace {

using cc::Attribute;

/// Calls `visit` with the register of a request and its codec.
template <class Registers, class Visit>
void visit_register(Registers& of, const CcRequest& request, Visit visit) {
  switch (request.attribute) {
    case Attribute::CongestionKeyInfo:
      return visit(of.key, cc::decode_key_info, cc::encode_key_info);
    case Attribute::ClassPortInfo:
      return visit(of.traps, cc::decode_class_port_info, cc::encode_class_port_info);
    case Attribute::SwitchCongestionSetting:
      return visit(of.of_switch, cc::decode_switch_setting, cc::encode_switch_setting);
    case Attribute::SwitchPortCongestionSetting:
      if (request.modifier < of.of_ports.size())
        visit(of.of_ports[request.modifier], cc::decode_port_settings, cc::encode_port_settings);
      return;
    case Attribute::CaCongestionSetting:
      return visit(of.of_adapter, cc::decode_ca_setting, cc::encode_ca_setting);
    default:
      if (request.modifier < of.table.size())
        visit(of.table[request.modifier], cc::decode_cct_block, cc::encode_cct_block);
      return;
  }
}

constexpr std::uint32_t kGsiQp = 1;
constexpr std::uint32_t kGsiQKey = 0x80010000;

}  // namespace

CcTarget build_cc_target(const cc::Plan& plan,
                         const cc::Options& options,
                         const Fabric& fabric,
                         NodeIdx node,
                         PortNum port,
                         Lid our_lid) {
  CcTarget target{.key = options.key};
  if (options.protect) {
    target.protect = cc::KeyInfo{.key = options.key,
                                 .protect = true,
                                 .lease_s = static_cast<std::uint16_t>(options.lease_s)};
    target.trap_lid = our_lid;
  }
  if (fabric.is_switch(node)) {
    target.of_switch = cc::switch_setting(plan, options, fabric, node);
    target.of_ports = cc::port_settings(plan, options, fabric, node);
  } else {
    target.of_adapter = cc::ca_target(plan, options, fabric, fabric.port_of(node, port));
  }
  return target;
}

bool holds(const cc::KeyInfo& held, const cc::KeyInfo& wanted) {
  return held.key == wanted.key && held.protect == wanted.protect && held.lease_s == wanted.lease_s;
}

bool holds(const cc::ClassPortInfo& held, const cc::ClassPortInfo& wanted) {
  return held.trap_lid == wanted.trap_lid && held.trap_qp == wanted.trap_qp;
}

bool holds(const cc::SwitchSetting& held, const cc::SwitchSetting& wanted) {
  const auto named = [&](std::uint32_t bit) { return (wanted.control_map & bit) != 0; };
  using namespace cc::control;
  if (named(kVictimMask) && held.victim_mask != wanted.victim_mask) return false;
  if (named(kCreditMask) && held.credit_mask != wanted.credit_mask) return false;
  if (named(kThreshold) &&
      (held.threshold != wanted.threshold || held.packet_size != wanted.packet_size))
    return false;
  if (named(kCreditStarvation) &&
      (held.cs_threshold != wanted.cs_threshold || held.cs_return_delay != wanted.cs_return_delay))
    return false;
  return !named(kMarkingRate) || held.marking_rate == wanted.marking_rate;
}

bool holds(const cc::CaSetting& held, const cc::CaSetting& wanted) {
  if (wanted.control_map == 0) return true;
  if (held.port_control != wanted.port_control) return false;
  for (std::size_t sl = 0; sl < cc::kSls; ++sl) {
    if ((wanted.control_map >> sl & 1u) != 0 && held.entries[sl] != wanted.entries[sl])
      return false;
  }
  return true;
}

bool holds(const cc::PortSettingBlock& held, const cc::PortSettingBlock& wanted) {
  return std::ranges::equal(held, wanted, [](const cc::PortSetting& a, const cc::PortSetting& b) {
    return a == b || (!a.valid && !b.valid);
  });
}

bool holds(const cc::CctBlock& held, const cc::CctBlock& wanted) { return held == wanted; }

MadBytes make_cc_mad(const CcRequest& request, cc::CcKey key) {
  MadBytes mad{};
  encode_mad_header({.mgmt_class = static_cast<std::uint8_t>(MgmtClass::CongestionControl),
                     .class_version = cc::kClassVersion,
                     .method = static_cast<std::uint8_t>(request.set ? Method::Set : Method::Get),
                     .attribute_id = static_cast<std::uint16_t>(request.attribute),
                     .attribute_modifier = request.modifier},
                    mad);
  cc::write_key(key, mad);
  return mad;
}

void CcRegisters::take(const CcRequest& request, const MadBytes& answer) {
  const auto data = std::span(answer).subspan(cc::kDataOffset);
  visit_register(*this, request, [&](auto& reg, auto decode, auto) { reg.held = *decode(data); });
}

void CcRegisters::write(const CcRequest& request, MadBytes& mad) const {
  const cc::Data data = std::span<std::byte, kMadSize>(mad).subspan<cc::kDataOffset>();
  visit_register(
      *this, request, [&](const auto& reg, auto, auto encode) { encode(*reg.asked, data); });
}

void CcRegisters::unread(const CcRequest& request) {
  visit_register(*this, request, [](auto& reg, auto, auto) { reg.held.reset(); });
}

void CcRegisters::give_up(const CcRequest& request) {
  visit_register(*this, request, [](auto& reg, auto, auto) { reg.given_up = true; });
}

void CcRegisters::try_all() {
  key.given_up = traps.given_up = of_switch.given_up = of_adapter.given_up = false;
  for (auto& block : of_ports) block.given_up = false;
  for (auto& block : table) block.given_up = false;
}

std::string_view print_cc_agent_status(CcAgentStatus status) {
  switch (status) {
    case CcAgentStatus::Unknown:
      return "unknown";
    case CcAgentStatus::Managed:
      return "managed";
    case CcAgentStatus::Unsupported:
      return "unsupported";
    case CcAgentStatus::Silent:
      return "silent";
    case CcAgentStatus::ForeignKey:
      return "foreign key";
  }
  return "unknown";
}

void CcAgent::set_target(CcTarget target) {
  // Ports that had a setting of their own are set to have none.
  if (target.of_switch && target.of_ports.size() < target_.of_ports.size())
    target.of_ports.resize(target_.of_ports.size());
  if (target == target_) return;
  if (target.key != target_.key) {
    const bool shut_out = status_ == CcAgentStatus::ForeignKey || status_ == CcAgentStatus::Silent;
    if (shut_out) forget();
    const auto& held = registers_.key.held;
    if (held && held->key == target_.key && held->key != cc::CcKey{}) foreign_key_ = held->key;
    former_keys_tried_ = 0;
  }
  target_ = std::move(target);
  disobeyed_ = refused_ = 0;
  trouble_.clear();
  registers_.try_all();
}

void CcAgent::forget() {
  const CcTarget target = std::move(target_);
  *this = CcAgent(is_switch_);
  target_ = target;
}

void CcAgent::try_again() {
  if (status_ == CcAgentStatus::Silent || status_ == CcAgentStatus::ForeignKey) {
    status_ = CcAgentStatus::Unknown;
    former_keys_tried_ = 0;
    foreign_key_.reset();
    unread_all();
  }
}

std::optional<CcRequest> CcAgent::next() {
  if (status_ != CcAgentStatus::Unknown && status_ != CcAgentStatus::Managed) return std::nullopt;
  if (!registers_.key.held) return CcRequest{.attribute = Attribute::CongestionKeyInfo};
  if (!info_) return CcRequest{.attribute = Attribute::CongestionInfo};
  for (const auto part : {&CcAgent::next_of_key,
                          &CcAgent::next_of_traps,
                          &CcAgent::next_of_switch,
                          &CcAgent::next_of_adapter}) {
    if (const auto request = (this->*part)()) return request;
  }
  status_ = CcAgentStatus::Managed;
  return std::nullopt;
}

template <class T>
std::optional<CcRequest> CcAgent::reconcile(CcRegister<T>& reg,
                                            const T& wanted,
                                            Attribute attribute,
                                            std::uint32_t modifier) {
  if (reg.given_up) return std::nullopt;
  const CcRequest read{.attribute = attribute, .modifier = modifier};
  if (!reg.held) return read;
  if (holds(*reg.held, wanted)) {
    reg.asked.reset();
    return std::nullopt;
  }
  if (reg.asked && holds(*reg.asked, wanted)) {
    ++disobeyed_;
    give_up(read, "it answers the Set and keeps what it had");
    return std::nullopt;
  }
  reg.asked = wanted;
  return CcRequest{.set = true, .attribute = attribute, .modifier = modifier};
}

std::optional<CcRequest> CcAgent::next_of_key() {
  const auto& held = registers_.key.held;
  const bool foreign = held && held->key != cc::CcKey{} && held->key != target_.key;
  if (!target_.protect && !foreign) return std::nullopt;
  cc::KeyInfo wanted = target_.protect.value_or(cc::KeyInfo{.key = target_.key});
  wanted.violations = violations();
  return reconcile(registers_.key, wanted, Attribute::CongestionKeyInfo);
}

std::optional<CcRequest> CcAgent::next_of_traps() {
  const auto& held = registers_.traps.held;
  const bool sends_none = held && (held->capability_mask & cc::kIsTrapSupported) == 0;
  if (target_.trap_lid == kUnassignedLid || sends_none) return std::nullopt;
  cc::ClassPortInfo wanted = held.value_or(cc::ClassPortInfo{});
  wanted.trap_lid = target_.trap_lid;
  wanted.trap_qp = kGsiQp;
  wanted.trap_q_key = kGsiQKey;
  wanted.trap_p_key = kDefaultPKey;
  return reconcile(registers_.traps, wanted, Attribute::ClassPortInfo);
}

std::optional<CcRequest> CcAgent::next_of_switch() {
  if (!target_.of_switch) return std::nullopt;
  auto request =
      reconcile(registers_.of_switch, *target_.of_switch, Attribute::SwitchCongestionSetting);
  auto& ports = registers_.of_ports;
  ports.resize(target_.of_ports.size());
  for (std::size_t i = 0; i < ports.size() && !request; ++i) {
    const auto block = static_cast<std::uint32_t>(i);
    request =
        reconcile(ports[i], target_.of_ports[i], Attribute::SwitchPortCongestionSetting, block);
  }
  return request;
}

/// The table first: an index must not stand where nothing was written yet.
std::optional<CcRequest> CcAgent::next_of_adapter() {
  if (!target_.of_adapter) return std::nullopt;
  const std::vector<cc::CctBlock>& wanted = target_.of_adapter->table;
  if (wanted.size() > info_->table_blocks) {
    if (trouble_.empty()) {
      ++refused_;
      trouble_ = fmt::format("its table has {} blocks of 64 entries; {} are needed",
                             info_->table_blocks,
                             wanted.size());
    }
    return std::nullopt;
  }
  auto& table = registers_.table;
  table.resize(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto block = static_cast<std::uint32_t>(i);
    const auto request = reconcile(table[i], wanted[i], Attribute::CongestionControlTable, block);
    if (request) return request;
    // An adapter without its table is not set to use it.
    if (table[i].given_up) return std::nullopt;
  }
  return reconcile(
      registers_.of_adapter, target_.of_adapter->setting, Attribute::CaCongestionSetting);
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
    if (info.key != cc::CcKey{} && info.key != target_.key) foreign_key_ = info.key;
    registers_.key.held = info;
    lease_probed_ = false;
    return;
  }
  foreign_lease_s_ = info.lease_s;
  foreign_key_.reset();
  if (former_keys_tried_ < target_.former.size()) {
    foreign_key_ = target_.former[former_keys_tried_++];
  } else {
    status_ = CcAgentStatus::ForeignKey;
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
    timeouts_ = 0;
    has_answered_ = true;
    if (!request.set) return take_get(request, answer);
    if (request.attribute == Attribute::CongestionKeyInfo) {
      foreign_key_.reset();  // it is under ours now, or says otherwise when it is asked
      former_keys_tried_ = 0;
    }
    return registers_.unread(request);
  }
  if (status == static_cast<std::uint16_t>(MadStatus::Busy)) return on_timeout();
  const bool first = request.attribute == Attribute::CongestionKeyInfo ||
                     request.attribute == Attribute::CongestionInfo;
  if (!request.set && first) {
    status_ = CcAgentStatus::Unsupported;
    return;
  }
  ++refused_;
  give_up(request, fmt::format("refused with status {}", print_mad_status(status)));
}

void CcAgent::on_timeout() {
  status_ = CcAgentStatus::Silent;
  ++timeouts_;
  unread_all();
}

bool CcAgent::is_confirmed() const {
  if (status_ != CcAgentStatus::Managed || !trouble_.empty()) return false;
  const auto& of_switch = registers_.of_switch.held;
  const auto& of_adapter = registers_.of_adapter.held;
  if (target_.of_switch) {
    if (!of_switch || !holds(*of_switch, *target_.of_switch)) return false;
    return std::ranges::equal(
        registers_.of_ports, target_.of_ports, [](const auto& reg, const auto& wanted) {
          return reg.held && holds(*reg.held, wanted);
        });
  }
  if (target_.of_adapter) return of_adapter && holds(*of_adapter, target_.of_adapter->setting);
  return true;
}

}  // namespace smd
