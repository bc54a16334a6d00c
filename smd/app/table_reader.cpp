#include "smd/app/table_reader.h"

#include <utility>

namespace smd::app {

void TableReader::adopt(std::shared_ptr<const ActiveSubnet> now, MKey m_key) {
  now_ = std::move(now);
  m_key_ = m_key;
}

void TableReader::read(const std::vector<sa::TableBlock>& blocks) {
  auto job = std::make_shared<Job>();
  for (const sa::TableBlock& block : blocks) {
    if (pending_.insert(block).second) job->left.push_back(block);
  }
  if (job->left.empty()) return;
  jobs_.push_back(std::move(job));
  if (!std::exchange(ticking_, true))
    tick_ = Timer(runtime_, runtime_.now(), [this] {
      ticking_ = false;
      in_tick_ = 0;
      pump();
    });
}

void TableReader::pump() {
  while (!jobs_.empty() && outstanding_ < kAtOnce && in_tick_ < kPerTick) {
    const std::shared_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    const sa::TableBlock block = job->left.front();
    job->left.pop_front();
    ++job->outstanding;
    if (!job->left.empty()) jobs_.push_back(job);
    send(job, block);
  }
  if (jobs_.empty() || std::exchange(ticking_, true)) return;
  tick_ = Timer(runtime_, runtime_.now() + kTick, [this] {
    ticking_ = false;
    in_tick_ = 0;
    pump();
  });
}

void TableReader::send(const std::shared_ptr<Job>& job, const sa::TableBlock& block) {
  ++in_tick_;
  const auto node = now_ ? now_->fabric().find_node(block.node) : std::nullopt;
  if (!node) return finish(job, block, std::nullopt);
  const Fabric& fabric = now_->fabric();
  const HopPath path = fabric.is_switch(*node)
                           ? now_->sweep.path[*node]
                           : path_to(now_->sweep, fabric.port_of(*node, block.port));
  ++outstanding_;
  ++sent_;
  scope_.send({.route = SmpRoute::directed(path),
               .method = Method::Get,
               .attribute = block.attribute,
               .modifier = block.modifier,
               .m_key = m_key_},
              [this, job, block](const Result<SmpReply>& reply) {
                --outstanding_;
                const bool good = reply && reply->status == 0;
                finish(job, block, good ? std::optional(reply->data) : std::nullopt);
                pump();
              });
}

void TableReader::finish(const std::shared_ptr<Job>& job,
                         const sa::TableBlock& block,
                         const std::optional<SmpData>& data) {
  pending_.erase(block);
  held_.note(block, data);
  if (--job->outstanding == 0 && job->left.empty()) on_read_();
}

}  // namespace smd::app
