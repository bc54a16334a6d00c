#include "smd/program/partition_setter.h"

#include <algorithm>
#include <span>
#include <utility>

#include "smd/mad/tables.h"

namespace smd {
namespace {

/// Entries of a block that the table has room for; what an agent answers beyond is not defined.
std::span<const PKey> part_of(const KeyTable& table, std::size_t number) {
  const std::size_t from = number * kPKeyBlockSize;
  return std::span(table).subspan(from, std::min(kPKeyBlockSize, table.size() - from));
}

std::size_t blocks_in(const KeyTable& table) {
  return (table.size() + kPKeyBlockSize - 1) / kPKeyBlockSize;
}

}  // namespace

void PartitionSetter::start(std::function<void()> done) {
  run_.enforcement = IndexVector<PortIdx, std::optional<PartitionEnforcement>>(
      run_.fabric().port_count(), PartitionEnforcement::Off);
  if (run_.input.partitions == nullptr) return done();
  done_ = std::move(done);
  collect();
  read();
}

PortRef PartitionSetter::ref_of(PortIdx port) const {
  const Fabric& fabric = run_.fabric();
  return {fabric.node_guid[fabric.node_of[port]], fabric.number_of(port)};
}

void PartitionSetter::collect() {
  const Fabric& fabric = run_.fabric();
  const PartitionPlan& plan = *run_.input.partitions;
  const auto fits = [&](PortIdx port) { return !std::ranges::binary_search(plan.too_small, port); };
  const auto add = [&](PortIdx port, PortIdx end_port, std::vector<PKey> keys, PKey first) {
    // Whoever is behind a link that comes up may have been started anew.
    KeyTable before;
    const bool came_up =
        is_data_port(fabric, port) && fabric.port_info[port].state() == PortState::Initialize;
    if (came_up || run_.state.doubtful.contains(ref_of(port))) {
      if (const KeyTable* known = run_.state.keys.find(ref_of(port))) before = *known;
      run_.state.keys.doubt(ref_of(port));
    }
    sites_.push_back({.port = port,
                      .end_port = end_port,
                      .enforcement = port != end_port,
                      .keys = std::move(keys),
                      .first = first,
                      .before = std::move(before),
                      .now = KeyTable(key_capacity(fabric, port)),
                      .wanted = {}});
  };
  for (const PortIdx port : plan.map.indices()) {
    const PortKeys& keys = plan.map[port];
    if (keys.keys.empty() || !is_managed(fabric, port)) continue;
    add(port, port, keys.keys, keys.first);
    const PortIdx enforcer = find_enforcer(fabric, port);
    if (enforcer == kNone<PortIdx> || plan.enforcement == PartitionEnforcement::Off) continue;
    if (fits(enforcer)) {
      add(enforcer, port, enforced_keys(keys), PKey{0});
    } else {
      run_.enforcement[enforcer].reset();
    }
  }
}

void PartitionSetter::read() {
  std::vector<Block> unread;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    Site& site = sites_[i];
    if (const KeyTable* known = run_.state.keys.find(ref_of(site.port)); known != nullptr) {
      site.now = *known;
      continue;
    }
    for (std::size_t b = 0; b < blocks_in(site.now); ++b)
      unread.push_back({i, static_cast<std::uint16_t>(b)});
  }
  spread_over_agents(unread, [this](const Block& block) {
    return run_.fabric().node_of[sites_[block.site].port];
  });
  batch_.each<Block>(
      run_.report.configure,
      std::move(unread),
      [this](const Block& block) {
        batch_.ask(request(block, Method::Get), [this, block](const Result<SmpReply>& reply) {
          if (!accepted(reply)) return fail(block, describe_failure(reply));
          take(block, *decode_p_key_block(reply->data));
        });
      },
      [this] { arrange(); });
}

void PartitionSetter::arrange() {
  for (Site& site : sites_) {
    if (site.failed) continue;
    const PortRef ref = ref_of(site.port);
    // Nothing outlived a start: indices are free again.
    if (!site.before.empty() && site.before != site.now) run_.state.keys.forget(ref);
    if (run_.state.keys.find(ref) == nullptr) run_.state.keys.remember(ref, site.now);
    // Never nothing: what does not fit is not in the map, or in PartitionPlan::too_small.
    site.wanted = arrange_keys(site.now,
                               {.keys = site.keys,
                                .first = site.first,
                                .used = run_.state.keys.used(ref),
                                .enforced = site.enforcement})
                      .value_or(site.now);
  }
  write(true, [this] { write(false, [this] { finish(); }); });
}

void PartitionSetter::write(bool default_blocks, std::function<void()> next) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const Site& site = sites_[i];
    if (site.failed) continue;
    for (std::size_t b = 0; b < blocks_in(site.wanted); ++b) {
      const Block block{i, static_cast<std::uint16_t>(b)};
      if (brings_default(block) == default_blocks &&
          !std::ranges::equal(part_of(site.now, b), part_of(site.wanted, b)))
        blocks.push_back(block);
    }
  }
  spread_over_agents(blocks, [this](const Block& block) {
    return run_.fabric().node_of[sites_[block.site].port];
  });
  batch_.each<Block>(
      run_.report.configure,
      std::move(blocks),
      [this](const Block& block) { send(block); },
      std::move(next));
}

void PartitionSetter::send(const Block& block) {
  Site& site = sites_[block.site];
  PKeyBlock body{};
  std::ranges::copy(part_of(site.wanted, block.number), body.begin());
  SmpRequest set = request(block, Method::Set);
  encode_p_key_block(body, set.data);
  run_.state.keys.doubt(ref_of(site.port));
  batch_.ask(std::move(set), [this, block](const Result<SmpReply>& reply) {
    if (!accepted(reply)) return fail(block, describe_failure(reply));
    take(block, *decode_p_key_block(reply->data));
    const Site& written = sites_[block.site];
    if (!std::ranges::equal(part_of(written.now, block.number),
                            part_of(written.wanted, block.number))) {
      return fail(block, "the agent kept something else");
    }
    ++run_.report.key_blocks_written;
  });
}

void PartitionSetter::finish() {
  for (const Site& site : sites_) {
    if (!site.failed) {
      const PortRef ref = ref_of(site.port);
      if (run_.state.keys.find(ref) == nullptr) run_.state.keys.remember(ref, site.now);
    }
    if (!site.enforcement) continue;
    // Behind a table that is not known, as it is; see with_enforcement().
    run_.enforcement[site.port] =
        site.failed ? std::nullopt : std::optional(run_.input.partitions->enforcement);
  }
  std::exchange(done_, nullptr)();
}

bool PartitionSetter::brings_default(const Block& block) const {
  return has_default_key(part_of(sites_[block.site].wanted, block.number));
}

SmpRequest PartitionSetter::request(const Block& block, Method method) const {
  const Fabric& fabric = run_.fabric();
  const PortIdx port = sites_[block.site].port;
  const bool is_switch = fabric.is_switch(fabric.node_of[port]);
  return {.route = SmpRoute::directed(path_to(*run_.input.report, port)),
          .method = method,
          .attribute = AttributeId::PKeyTable,
          .modifier = encode_modifier(PKeyModifier{
              .block = block.number, .port = is_switch ? fabric.number_of(port) : PortNum{0}})};
}

void PartitionSetter::take(const Block& block, const PKeyBlock& answer) {
  KeyTable& now = sites_[block.site].now;
  const std::size_t from = block.number * kPKeyBlockSize;
  const std::size_t count = std::min(kPKeyBlockSize, now.size() - from);
  std::copy_n(answer.begin(), count, now.begin() + static_cast<std::ptrdiff_t>(from));
}

void PartitionSetter::fail(const Block& block, const std::string& what) {
  Site& site = sites_[block.site];
  site.failed = true;
  const Fabric& fabric = run_.fabric();
  const std::string line = fmt::format("P_Key block {}: {}", block.number, what);
  run_.report.unconfirmed_keys.emplace(fabric.port_guid[site.end_port],
                                       fmt::format("{}: {}", print_port(fabric, site.port), line));
  run_.fault(fabric.node_of[site.port], fabric.number_of(site.port), line);
}

PortInfo with_enforcement(const ProgramRun& run, PortIdx port, PortInfo wanted) {
  const Fabric& fabric = run.fabric();
  const SwitchIdx sw = fabric.switch_at(port);
  if (sw == kNone<SwitchIdx> || fabric.number_of(port) == PortNum{0}) return wanted;
  const std::optional<PartitionEnforcement> enforcement = run.enforcement[port];
  if (!enforcement) return wanted;
  const auto either = [&](PartitionEnforcement one) {
    return *enforcement == one || *enforcement == PartitionEnforcement::Both;
  };
  const SwitchInfo& able = fabric.switch_info[sw];
  wanted.partition_enforcement_inbound =
      able.inbound_enforcement_cap && either(PartitionEnforcement::In);
  wanted.partition_enforcement_outbound =
      able.outbound_enforcement_cap && either(PartitionEnforcement::Out);
  return wanted;
}

}  // namespace smd
