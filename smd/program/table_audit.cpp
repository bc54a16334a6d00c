#include "smd/program/table_audit.h"

#include <utility>

namespace smd {
namespace {

std::string describe(const Result<SmpReply>& reply) {
  if (!reply) return reply.error().context;
  return fmt::format("refused with status 0x{:04x}", reply->status);
}

}  // namespace

void TableAudit::start(const SweepReport& report, std::vector<TableCheck> checks, Done done) {
  report_ = &report;
  checks_ = std::move(checks);
  pump_.start(
      [this] {
        if (next_ == checks_.size()) return false;
        look(checks_[next_++]);
        return true;
      },
      [this, done = std::move(done)] { done(std::move(result_)); });
}

SmpRequest TableAudit::request(const TableCheck& check, Method method) const {
  return {.route = SmpRoute::directed(path_to(*report_, check.port)),
          .method = method,
          .attribute = check.attribute,
          .modifier = check.modifier,
          .m_key = m_key_};
}

void TableAudit::look(const TableCheck& check) {
  pump_.send(request(check, Method::Get), [this, &check](const Result<SmpReply>& reply) {
    ++result_.looked_at;
    if (!reply || reply->status != 0) return fault(check, describe(reply));
    if (const auto wanted = check.repair(reply->data)) repair(check, *wanted);
  });
}

void TableAudit::repair(const TableCheck& check, const SmpData& wanted) {
  SmpRequest set = request(check, Method::Set);
  set.data = wanted;
  pump_.send(set, [this, &check](const Result<SmpReply>& reply) {
    if (!reply || reply->status != 0) return fault(check, describe(reply));
    if (check.repair(reply->data)) return fault(check, "the agent kept something else");
    ++result_.repaired;
  });
}

void TableAudit::fault(const TableCheck& check, const std::string& what) {
  const Fabric& fabric = *report_->fabric;
  result_.faults.push_back(
      {fabric.node_guid[fabric.node_of[check.port]],
       fabric.number_of(check.port),
       fmt::format("{} 0x{:x}: {}",
                   print_attribute_id(static_cast<std::uint16_t>(check.attribute)),
                   check.modifier,
                   what)});
}

}  // namespace smd
