#include "smd/program/block_writer.h"

#include <utility>

namespace smd {
namespace {

enum class Match : std::uint8_t { Same, Other, Nonsense };

/// Confirms what the answer shows.
Match confirm(ProgramState& state, Guid guid, const BlockWrite& block, const SmpData& answer) {
  if (block.table == AttributeId::RandomForwardingTable) {
    const auto now = decode_rft_block(answer);
    if (!now) return Match::Nonsense;
    state.random.confirm(guid, block.number, *now);
    return *now == *decode_rft_block(block.data) ? Match::Same : Match::Other;
  }
  const auto now = decode_lft_block(answer);
  if (!now) return Match::Nonsense;
  state.tables.confirm(guid, block.number, *now);
  return *now == *decode_lft_block(block.data) ? Match::Same : Match::Other;
}

std::string name_of(const BlockWrite& block) {
  return fmt::format("{} block {}",
                     block.table == AttributeId::RandomForwardingTable ? "RFT" : "LFT",
                     block.number);
}

}  // namespace

void BlockWriter::write(std::vector<BlockWrite> blocks, Done done) {
  unconfirmed_ = {};
  if (blocks.empty()) return done({});
  spread_over_agents(blocks, [](const BlockWrite& block) { return block.sw; });
  stage_.each<BlockWrite>(
      run_.report.tables,
      std::move(blocks),
      [this](const BlockWrite& block) { send(block); },
      [this, done = std::move(done)] { done(std::move(unconfirmed_)); });
}

void BlockWriter::read(std::vector<BlockWrite> blocks, std::function<void()> done) {
  if (blocks.empty()) return done();
  spread_over_agents(blocks, [](const BlockWrite& block) { return block.sw; });
  stage_.each<BlockWrite>(
      run_.report.tables,
      std::move(blocks),
      [this](const BlockWrite& block) {
        ask(block, Method::Get, [this, block](const Result<SmpReply>& reply) {
          ++run_.report.blocks_read;
          if (accepted(reply)) confirm(run_.state, run_.guid_of(block.sw), block, reply->data);
        });
      },
      std::move(done));
}

void BlockWriter::send(const BlockWrite& block) {
  forget(block);
  ask(block, Method::Set, [this, block](const Result<SmpReply>& reply) {
    if (!accepted(reply)) return look(block, describe_failure(reply), std::nullopt);
    if (confirm(run_.state, run_.guid_of(block.sw), block, reply->data) != Match::Same) {
      forget(block);
      return look(block, "the switch kept something else", reply->data);
    }
    ++run_.report.blocks_written;
  });
}

void BlockWriter::look(const BlockWrite& block, std::string why, std::optional<SmpData> said) {
  ask(block, Method::Get, [this, block, why = std::move(why), said](const Result<SmpReply>& reply) {
    ++run_.report.blocks_read;
    const Guid guid = run_.guid_of(block.sw);
    if (accepted(reply) && confirm(run_.state, guid, block, reply->data) == Match::Same) {
      ++run_.report.blocks_written;
      return;
    }
    if (accepted(reply) && said && *said != reply->data) forget(block);
    const std::string what = fmt::format("{}: {}", name_of(block), why);
    run_.fault(run_.node_of(block.sw), PortNum{0}, what);
    unconfirmed_.add(guid, what);
  });
}

void BlockWriter::ask(const BlockWrite& block,
                      Method method,
                      std::function<void(const Result<SmpReply>&)> on_reply) {
  stage_.ask({.route = SmpRoute::directed(run_.input.report->path[run_.node_of(block.sw)]),
              .method = method,
              .attribute = block.table,
              .modifier = block.number,
              .data = method == Method::Set ? block.data : SmpData{}},
             std::move(on_reply));
}

void BlockWriter::forget(const BlockWrite& block) {
  const Guid guid = run_.guid_of(block.sw);
  if (block.table == AttributeId::RandomForwardingTable) {
    run_.state.random.forget_block(guid, block.number);
  } else {
    run_.state.tables.forget_block(guid, block.number);
  }
}

}  // namespace smd
