#include "smd/multicast/group_rules.h"

#include <algorithm>

#include "smd/ib/rates.h"
#include "smd/multicast/mgid.h"

namespace smd {
namespace {

constexpr std::uint16_t kPartitionBits = 0x7fff;  // bit 15 is full membership
constexpr std::uint8_t kLongestLife = 63;
constexpr std::uint8_t kRoutedHopLimit = 255;

bool same_partition(PKey a, PKey b) {
  return (a.value() & kPartitionBits) == (b.value() & kPartitionBits);
}

std::optional<std::uint8_t> choose_mtu(const Bound& bound, std::uint8_t most) {
  switch (bound.selector) {
    case Selector::GreaterThan:
      return most > bound.value ? std::optional(most) : std::nullopt;
    case Selector::LessThan:
      if (bound.value <= 1) return std::nullopt;
      return std::min(most, static_cast<std::uint8_t>(bound.value - 1));
    case Selector::Exactly:
      return bound.value != 0 && bound.value <= most ? std::optional(bound.value) : std::nullopt;
    case Selector::Best:
      break;
  }
  return most;
}

std::optional<std::uint8_t> choose_rate(const Bound& bound, std::uint8_t most) {
  if (bound.selector == Selector::Best) return most;
  const unsigned wanted = rate_order(bound.value);
  if (wanted == 0) return std::nullopt;
  if (bound.selector == Selector::GreaterThan)
    return rate_order(most) > wanted ? std::optional(most) : std::nullopt;
  if (bound.selector == Selector::Exactly)
    return wanted <= rate_order(most) ? std::optional(bound.value) : std::nullopt;
  if (rate_order(most) < wanted) return most;
  const std::uint8_t below = rate_below(bound.value);
  return below != 0 ? std::optional(below) : std::nullopt;
}

/// Packets live `least` at most; a group may say longer, not less.
std::optional<std::uint8_t> choose_life_time(const Bound& bound, std::uint8_t least) {
  switch (bound.selector) {
    case Selector::GreaterThan:
      if (bound.value == kLongestLife) return std::nullopt;
      return std::max(least, static_cast<std::uint8_t>(bound.value + 1));
    case Selector::LessThan:
      return least < bound.value ? std::optional(least) : std::nullopt;
    case Selector::Exactly:
      return least <= bound.value ? std::optional(bound.value) : std::nullopt;
    case Selector::Best:
      break;
  }
  return least;
}

/// What a group has, against what is asked; `order` makes codes comparable.
template <class Order>
bool keeps(const std::optional<Bound>& bound, std::uint8_t has, Order order) {
  if (!bound) return true;
  switch (bound->selector) {
    case Selector::GreaterThan:
      return order(has) > order(bound->value);
    case Selector::LessThan:
      return order(has) < order(bound->value);
    case Selector::Exactly:
      return has == bound->value;
    case Selector::Best:
      break;
  }
  return true;
}

template <class T>
bool agrees(const std::optional<T>& asked, const T& has) {
  return !asked || *asked == has;
}

}  // namespace

tl::expected<GroupTraits, Refusal> choose_traits(const Realm& realm,
                                                 const GroupRequest& request,
                                                 Guid port,
                                                 const Realm::Ability& ability) {
  using tl::unexpected;
  if (!join_state::keeps_group(*request.join_state)) return unexpected(Refusal::RequestInvalid);
  if (!request.q_key || !request.p_key || !request.tclass || !request.flow_label || !request.sl)
    return unexpected(Refusal::InsufficientComponents);
  const Gid mgid = request.mgid.value_or(Gid{});
  const std::uint8_t scope =
      mgid == Gid{} ? request.scope.value_or(kLinkLocalScope) : mgid_scope(mgid);
  const auto mtu = request.mtu ? choose_mtu(*request.mtu, ability.mtu) : std::optional(ability.mtu);
  const auto rate =
      request.rate ? choose_rate(*request.rate, ability.rate) : std::optional(ability.rate);
  const auto life = request.life_time ? choose_life_time(*request.life_time, realm.life_time())
                                      : std::optional(realm.life_time());
  // What is made up is of a scope that means something.
  const bool named = mgid != Gid{} ? may_be_asked_for(mgid) : scope != 0 && scope < 15;
  if (!named || !mtu || !rate || !life) return unexpected(Refusal::RequestInvalid);
  if ((request.p_key->value() & kPartitionBits) == 0 || !realm.in_partition(port, *request.p_key))
    return unexpected(Refusal::RequestInvalid);
  const std::uint8_t hops = scope == kLinkLocalScope ? std::uint8_t{0} : kRoutedHopLimit;
  return GroupTraits{.q_key = *request.q_key,
                     .p_key = *request.p_key,
                     .mtu = *mtu,
                     .rate = *rate,
                     .life_time = *life,
                     .sl = *request.sl,
                     .tclass = *request.tclass,
                     .hop_limit = request.hop_limit.value_or(hops),
                     .scope = scope,
                     .flow_label = *request.flow_label};
}

bool meets_bounds(const GroupTraits& traits, const GroupRequest& request) {
  const auto plain = [](std::uint8_t code) { return unsigned{code}; };
  return keeps(request.mtu, traits.mtu, plain) && keeps(request.rate, traits.rate, rate_order) &&
         keeps(request.life_time, traits.life_time, plain);
}

bool fits(const Realm& realm,
          const Group& group,
          const GroupRequest& request,
          Guid port,
          const Realm::Ability& ability) {
  const GroupTraits& traits = group.traits;
  if (request.p_key && !same_partition(*request.p_key, traits.p_key)) return false;
  return agrees(request.q_key, traits.q_key) && agrees(request.mlid, group.mlid) &&
         agrees(request.tclass, traits.tclass) &&
         (agrees(request.sl, traits.sl) || agrees(request.sl, realm.packet_sl(traits.sl))) &&
         agrees(request.flow_label, traits.flow_label) &&
         agrees(request.hop_limit, traits.hop_limit) && meets_bounds(traits, request) &&
         ability.mtu >= traits.mtu && rate_order(ability.rate) >= rate_order(traits.rate) &&
         realm.in_partition(port, traits.p_key);
}

}  // namespace smd
