#include "sim-backend/agents/smi.h"

#include "smd/mad/smp.h"

namespace smd::sim {
namespace {

using Kind = SmiVerdict::Kind;

// Byte offsets of IBA 14.2.1.2.
constexpr std::size_t kDirection = 4;
constexpr std::size_t kHopPointer = 6;
constexpr std::size_t kHopCount = 7;
constexpr std::size_t kDrSlid = 32;
constexpr std::size_t kDrDlid = 34;
constexpr std::size_t kInitialPath = 128;
constexpr std::size_t kReturnPath = 192;

struct Hops {
  MadBytes& mad;

  [[nodiscard]] unsigned at(std::size_t offset) const {
    return std::to_integer<unsigned>(mad[offset]);
  }

  [[nodiscard]] Lid lid(std::size_t offset) const {
    return Lid{static_cast<std::uint16_t>(at(offset) << 8 | at(offset + 1))};
  }

  void set(std::size_t offset, unsigned value) { mad[offset] = static_cast<std::byte>(value); }
};

SmiVerdict leave(SmiNode node, SmiSource source, PortNum port, unsigned egress) {
  if (egress == 0 || egress > node.num_ports) return {};
  const PortNum out{static_cast<std::uint8_t>(egress)};
  // An adapter does not forward, and its ports do not lend their wire to each other.
  if (!node.is_switch && (source != SmiSource::Local || out != port)) return {};
  return {Kind::Exit, out, {}};
}

SmiVerdict pass_outbound(SmiNode node, SmiSource source, PortNum port, Hops hops) {
  const unsigned pointer = hops.at(kHopPointer);
  const unsigned count = hops.at(kHopCount);
  const Lid dr_dlid = hops.lid(kDrDlid);
  const bool from_directed_wire = source == SmiSource::Directed;

  if (pointer == 0 && count > 0 && !from_directed_wire) {
    hops.set(kHopPointer, 1);
    return leave(node, source, port, hops.at(kInitialPath + 1));
  }
  if (pointer > 0 && pointer < count && from_directed_wire && node.is_switch) {
    hops.set(kReturnPath + pointer, port.value());
    hops.set(kHopPointer, pointer + 1);
    return leave(node, source, port, hops.at(kInitialPath + pointer + 1));
  }
  if (pointer == count && (count == 0 || from_directed_wire)) {
    if (count > 0) hops.set(kReturnPath + pointer, port.value());
    hops.set(kHopPointer, pointer + 1);
    if (dr_dlid == kPermissiveLid) return {Kind::Agent, {}, {}};
    return {Kind::ByLid, {}, dr_dlid};
  }
  // The end of a final LID-routed segment.
  if (pointer == count + 1 && source == SmiSource::LidRouted) return {Kind::Agent, {}, {}};
  return {};
}

SmiVerdict pass_returning(SmiNode node, SmiSource source, PortNum port, Hops hops) {
  const unsigned pointer = hops.at(kHopPointer);
  const unsigned count = hops.at(kHopCount);

  if (pointer == count + 1 && source == SmiSource::Local && hops.lid(kDrDlid) != kPermissiveLid) {
    return {Kind::ToOrigin, {}, {}};
  }
  if (pointer == count + 1 && count > 0 && source != SmiSource::Directed) {
    hops.set(kHopPointer, count);
    return leave(node, source, port, hops.at(kReturnPath + count));
  }
  if (pointer >= 2 && pointer <= count && source == SmiSource::Directed && node.is_switch) {
    hops.set(kHopPointer, pointer - 1);
    return leave(node, source, port, hops.at(kReturnPath + pointer - 1));
  }
  if (pointer == 1) {
    hops.set(kHopPointer, 0);
    const Lid dr_slid = hops.lid(kDrSlid);
    if (dr_slid == kPermissiveLid) return {Kind::Agent, {}, {}};
    return {Kind::ByLid, {}, dr_slid};
  }
  if (pointer == 0 && source == SmiSource::LidRouted) return {Kind::Agent, {}, {}};
  return {};
}

}  // namespace

SmiVerdict pass_smi(SmiNode node, SmiSource source, PortNum port, MadBytes& mad) {
  const Hops hops{mad};
  if (hops.at(kHopCount) > kMaxHops) return {};
  const bool returning = (hops.at(kDirection) & 0x80) != 0;
  return returning ? pass_returning(node, source, port, hops)
                   : pass_outbound(node, source, port, hops);
}

}  // namespace smd::sim
