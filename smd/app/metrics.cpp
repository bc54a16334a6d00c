#include "smd/app/metrics.h"

#include <utility>

namespace smd::app {
namespace {

using enum MetricType;

void add_replica(Exposition& out, const ReplicaDesk& desk, std::uint64_t refused) {
  out.family(Gauge, "smd_replica_readers", "Managers that read a copy of our state.");
  out.sample(static_cast<double>(desk.server().peers().size()));
  out.family(Gauge, "smd_replica_readers_current", "1 when each of them has all of it.");
  out.sample(desk.server().is_current() ? 1 : 0);
  out.family(
      Counter, "smd_replica_refused_total", "Connections refused for want of a good certificate.");
  out.sample(static_cast<double>(refused));
}

void add_receive_queue(Exposition& out, const ReceiveStats& stats) {
  out.family(Counter,
             "smd_mads_dropped_total",
             "Packets that found no room between the receiving thread and the loop, by kind.");
  for (const auto& [kind, word] : {std::pair{MadKind::Answer, "answer"},
                                   {MadKind::Manager, "manager"},
                                   {MadKind::Trap, "trap"},
                                   {MadKind::Request, "request"}})
    out.sample(static_cast<double>(stats.dropped_of(kind)), {{"kind", word}});
}

}  // namespace

void add_administration_metrics(Exposition& out, const Administration& administration) {
  const sa::Server& server = administration.server();
  const sa::ServerStats& stats = server.stats();
  out.family(Counter, "smd_sa_answers_total", "Answers of the subnet administration.");
  for (const auto& [as, count] : stats.by_attribute) {
    const std::string_view attribute = sa::print_record_id(as.attribute);
    out.sample(static_cast<double>(count),
               {{"attribute", attribute.empty() ? "other" : attribute},
                {"status", sa::print_status(as.status)}});
  }
  out.family(Counter, "smd_sa_dropped_total", "Requests that got no answer, by reason.");
  for (const auto& [reason, count] : {std::pair{"malformed", stats.malformed},
                                      {"unasked", stats.unasked},
                                      {"wrong_key", stats.wrong_key},
                                      {"flooded", stats.flooded},
                                      {"repeated", stats.repeated}})
    out.sample(static_cast<double>(count), {{"reason", reason}});
  out.family(Counter, "smd_sa_transfers_failed_total", "Tables that were not taken to their end.");
  out.sample(static_cast<double>(stats.transfers_failed));
  out.family(Gauge, "smd_sa_waiting", "Requests that wait for their turn.");
  out.sample(static_cast<double>(server.waiting()));
  const sa::ReporterStats& reports = administration.inform().reporter().stats();
  out.family(Counter, "smd_sa_reports_total", "Reports to subscribers, by how they ended.");
  for (const auto& [result, count] : {std::pair{"answered", reports.answered},
                                      {"failed", reports.failed},
                                      {"missed", reports.missed}})
    out.sample(static_cast<double>(count), {{"result", result}});
  out.family(Gauge, "smd_sa_subscriptions", "Subscriptions to reports.");
  out.sample(static_cast<double>(administration.inform().table().count()));
  out.family(Gauge, "smd_sa_services", "Services that are registered.");
  out.sample(static_cast<double>(administration.services().table().all().size()));
}

std::string print_metrics(const MetricsInput& input) {
  Exposition out;
  out.family(Gauge, "smd_uptime_seconds", "Time since the daemon was started.");
  out.sample(std::chrono::duration<double>(input.uptime).count());
  out.family(Gauge, "smd_device_open", "1 when there is an adapter to manage the subnet from.");
  out.sample(input.session != nullptr ? 1 : 0);
  if (input.replica != nullptr) add_replica(out, *input.replica, input.replica_refused);
  if (input.session == nullptr) return out.take();
  const SubnetManager& manager = input.session->manager();
  const CongestionDesk& congestion = input.session->congestion();
  out.family(Gauge, "smd_alarms", "Lines of `smctl status` that say what is not as it should be.");
  out.sample(static_cast<double>(manager.alarms().size() + congestion.alarms().size()));
  add_receive_queue(out, input.received);
  add_subnet_metrics(out, manager, input.session->tally());
  add_administration_metrics(out, input.session->administration());
  add_congestion_metrics(out, congestion, manager.active().current().get());
  return out.take();
}

}  // namespace smd::app
