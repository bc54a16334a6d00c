#include "smd/discovery/node_details.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "smd/mad/vendor.h"

namespace smd {
namespace {

constexpr std::uint8_t kFdr10Active = 1;

}  // namespace

void DescriptionFetch::start(const SweepReport& report, std::set<Guid> again, Done done) {
  const auto issue_next = [this,
                           &report,
                           again = std::move(again),
                           fabric = report.fabric,
                           node = NodeIdx{0}]() mutable {
    while (node.value() < fabric->node_count() && !fabric->description[node].empty() &&
           !again.contains(fabric->node_guid[node]))
      node = next(node);
    if (node.value() >= fabric->node_count()) return false;
    pump_.send({.route = SmpRoute::directed(report.path[node]),
                .attribute = AttributeId::NodeDescription,
                .m_key = m_key_},
               [this, guid = fabric->node_guid[node]](const Result<SmpReply>& reply) {
                 if (!reply || reply->status != 0) return;
                 if (auto text = decode_node_description(reply->data))
                   found_[guid] = std::move(*text);
               });
    node = next(node);
    return true;
  };
  pump_.start(issue_next, [this, done = std::move(done)] { done(std::move(found_)); });
}

bool may_run_fdr10(const Fabric& fabric, PortIdx port) {
  return fabric.peer[port] != kNone<PortIdx> &&
         fabric.node_info[fabric.node_of[port]].vendor_id == kMellanox &&
         active_speed(fabric.port_info[port]) == LinkSpeed::Qdr;
}

void Fdr10Fetch::start(const SweepReport& report, std::vector<PortIdx> ports, Done done) {
  const auto issue_next = [this,
                           &report,
                           fabric = report.fabric,
                           ports = std::move(ports),
                           at = std::size_t{0}]() mutable {
    while (at < ports.size() && !may_run_fdr10(*fabric, ports[at])) ++at;
    if (at == ports.size()) return false;
    const PortIdx port = ports[at++];
    pump_.send({.route = SmpRoute::directed(path_to(report, port)),
                .attribute = AttributeId::ExtendedPortInfo,
                .modifier = fabric->number_of(port).value(),
                .m_key = m_key_},
               [this, port](const Result<SmpReply>& reply) {
                 if (!reply || reply->status != 0) return;
                 const auto info = decode_extended_port_info(reply->data);
                 if (info && (info->link_speed_active & kFdr10Active) != 0) found_.push_back(port);
               });
    return true;
  };
  pump_.start(issue_next, [this, done = std::move(done)] {
    std::ranges::sort(found_);
    done(std::move(found_));
  });
}

template <class Info>
struct LeftoverFetch::Attribute {
  AttributeId id;
  Result<Info> (*decode)(std::span<const std::byte>);
  void (*encode)(const Info&, std::span<std::byte, kSmpDataSize>);
  std::string (*what_is_on)(const Info&);
  Info (*off)(Info);
};

void LeftoverFetch::start(const SweepReport& report, std::vector<NodeIdx> switches, Done done) {
  report_ = &report;
  const auto issue_next = [this, switches = std::move(switches), at = std::size_t{0}]() mutable {
    if (at == switches.size()) return false;
    const NodeIdx node = switches[at++];
    pump_.send(request(node, AttributeId::GeneralInfo, kCapabilityMaskModifier),
               [this, node](const Result<SmpReply>& reply) {
                 if (const auto info = answer_of(node, reply, decode_general_info))
                   on_general_info(node, *info);
               });
    return true;
  };
  pump_.start(issue_next, [this, done = std::move(done)] {
    std::ranges::sort(
        found_, {}, [](const Leftover& each) { return std::tie(each.node, each.what); });
    done(std::move(found_), std::move(silent_));
  });
}

SmpRequest LeftoverFetch::request(NodeIdx node,
                                  AttributeId attribute,
                                  std::uint32_t modifier) const {
  return {.route = SmpRoute::directed(report_->path[node]),
          .attribute = attribute,
          .modifier = modifier,
          .m_key = m_key_};
}

template <class Info>
std::optional<Info> LeftoverFetch::answer_of(NodeIdx node,
                                             const Result<SmpReply>& reply,
                                             Result<Info> (*decode)(std::span<const std::byte>)) {
  if (!reply) silent_.insert(guid_of(node));
  if (!reply || reply->status != 0) return std::nullopt;
  const Result<Info> info = decode(reply->data);
  return info ? std::optional(*info) : std::nullopt;
}

void LeftoverFetch::on_general_info(NodeIdx node, const GeneralInfo& has) {
  if (has.has(general_cap::kAdaptiveRouting)) {
    ask<AdaptiveRoutingInfo>(
        node,
        {.id = AttributeId::AdaptiveRoutingInfo,
         .decode = decode_adaptive_routing_info,
         .encode = encode_adaptive_routing_info,
         .what_is_on =
             [](const AdaptiveRoutingInfo& info) {
               return info.any() ? print_adaptive_routing_info(info) : std::string{};
             },
         .off = [](AdaptiveRoutingInfo info) { return AdaptiveRoutingInfo{.rest = info.rest}; }});
  }
  if (has.has(general_cap::kPrivateLft)) {
    ask<PrivateLftInfo>(
        node,
        {.id = AttributeId::PrivateLftInfo,
         .decode = decode_private_lft_info,
         .encode = encode_private_lft_info,
         .what_is_on =
             [](const PrivateLftInfo& info) {
               return info.active_mode == 0
                          ? std::string{}
                          : "forwarding tables of single ports, " + print_private_lft_info(info);
             },
         .off = [](PrivateLftInfo info) { return PrivateLftInfo{.rest = info.rest}; }});
  }
}

template <class Info>
void LeftoverFetch::ask(NodeIdx node, const Attribute<Info>& about) {
  pump_.send(request(node, about.id), [this, node, about](const Result<SmpReply>& reply) {
    const std::optional<Info> info = answer_of(node, reply, about.decode);
    if (!info) return;
    std::string what = about.what_is_on(*info);
    if (what.empty()) return;
    if (clears_) return clear(node, about, about.off(*info), std::move(what));
    found_.push_back({.node = guid_of(node), .what = std::move(what)});
  });
}

template <class Info>
void LeftoverFetch::clear(NodeIdx node, const Attribute<Info>& about, Info off, std::string what) {
  SmpRequest set = request(node, about.id);
  set.method = Method::Set;
  about.encode(off, set.data);
  pump_.send(set, [this, node, about, what = std::move(what)](const Result<SmpReply>& reply) {
    const std::optional<Info> now = answer_of(node, reply, about.decode);
    found_.push_back(
        {.node = guid_of(node), .what = what, .cleared = now && about.what_is_on(*now).empty()});
  });
}

}  // namespace smd
