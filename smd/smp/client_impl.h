// The inside of SmpClient.
#pragma once

#include <deque>
#include <map>
#include <optional>

#include "smd/smp/m_keys.h"
#include "smd/smp/request_table.h"
#include "smd/smp/smp_client.h"
#include "smd/smp/window.h"

namespace smd {

// Every path ends in at most one call of a handler, as its very last act: the handler may destroy
// its scope, and after a loss the client.
struct SmpClient::Impl {
  struct Failure {
    RequestHandle request;
    Error error;
  };

  /// One whose last request lost an attempt.
  struct SilentRoute {
    bool given_up = false;  // some request was
  };

  /// A loss that the window learned from, until its request ends.
  struct SuspectLoss {
    std::uint32_t request = 0;  // the index of the latest, where there were several
    SmpWindow before;
    std::uint64_t answered = 0;  // by then
  };

  Impl(Runtime& r, Transport& t, const SmpClientConfig& c);
  ~Impl();

  [[nodiscard]] std::optional<SmpRoute> directed(const SmpRoute& route) const;
  void add(std::uint32_t scope, const SmpRequest& request, Done done);
  void cancel(std::uint32_t scope);

  [[nodiscard]] static bool waits_for_nobody(const SmpRequest& request);
  void pump();
  [[nodiscard]] std::deque<RequestHandle>* next_queue();
  bool inject(RequestHandle handle, PendingRequest& request);
  void on_send_error(RequestHandle handle, PendingRequest& request, const Error& error);
  void pump_at(TimePoint when);

  void arm_expiry();
  void on_expiry();
  void on_silence(std::uint32_t index);
  void on_loss(std::uint32_t index);
  void on_given_up(std::uint32_t index);
  [[nodiscard]] bool may_go_early(const PendingRequest& request) const;
  void retry_overtaken();
  void retry_early(std::uint32_t index);
  void arm_probe();
  void on_probe();
  [[nodiscard]] bool is_live(std::uint32_t id);

  /// Those of live() that may have been lost: who answered Busy has heard.
  [[nodiscard]] auto unheard() {
    return [this](std::uint32_t id) {
      return is_live(id) && !requests.at(wire_ids.find(id)->request).busy;
    };
  }

  [[nodiscard]] auto live() {
    return [this](std::uint32_t id) { return is_live(id); };
  }

  void receive(const MadPacket& packet);
  [[nodiscard]] bool may_come_from(const SmpRoute& asked, Lid from) const;
  void on_answer(const Smp& smp, Lid from);
  void on_lost(const Error& error);

  void leave_wire(PendingRequest& request);
  [[nodiscard]] Done release(std::uint32_t index);
  void fail_later(RequestHandle handle, PendingRequest& request, Error error);
  void deliver_soon();
  void deliver_failure();

  Runtime& runtime;
  Transport& transport;
  SmpClientConfig config;
  PortMKeys* port_m_keys = nullptr;
  MatchPort same_port;
  FindPath find_path;  // unset: SMPs by LID go as they are
  Unsolicited unsolicited;
  std::function<void(const Error&)> lost_handler;
  Lid local_lid = kPermissiveLid;
  Duration timeout;
  SmpStats stats;

  RequestTable requests;
  WireIds wire_ids;
  SmpWindow window;
  std::optional<SuspectLoss> suspect_loss;
  Pacer pacer;
  std::deque<RequestHandle> fresh;
  std::deque<RequestHandle> retries;  // in State::Waiting
  std::size_t queued = 0;             // requests alive in the two queues
  std::size_t on_wire = 0;
  std::size_t retries_on_wire = 0;
  std::map<SmpRoute, SilentRoute> silent_routes;  // until they answer

  Deadlines deadlines;
  std::optional<TimePoint> expiry_at;
  Timer expiry_timer;
  LossSense losses;
  bool probe_armed = false;
  bool probe_due = false;  // the next retry goes out whatever the window says
  Timer probe_timer;
  std::optional<TimePoint> pump_time;
  Timer pump_timer;
  TimePoint busy_until;
  std::optional<TimePoint> busy_since;

  std::deque<Failure> failures;
  Timer failure_timer;
  std::optional<Error> lost;
};

}  // namespace smd
