// Subnet administration as a service on QP1 of the manager's port: takes requests, answers them
// from the last view that was adopted, and keeps the segmented transfers going.
//
// Where there is no view, nobody is answered, and a request of a port that the view does not know
// waits for the view of the cycle that is under way: ports come up, and ask, before it is there.
// Clients take a status for the last word, but ask again where nothing comes. An answer that has a
// new view made waits for it, so that what it says is so.
//
// Ports wait in queues of their own and are served in turn, a few requests each turn of the loop:
// whoever floods waits behind himself. Most PathRecords never come here (path_responder.h).
// Everything that a port can make us keep has a limit, however many queue pairs and LIDs it asks
// from, and so has what all of them keep together.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "smd/sa/path_responder.h"
#include "smd/sa/query.h"
#include "smd/sa/rmpp.h"
#include "smd/transport/transport.h"

namespace smd::sa {

struct ServerLimits {
  std::size_t requests = std::size_t{1} << 16;  // that wait
  std::size_t requests_of_one_port = 64;
  std::size_t requests_of_one_port_in_100ms = 0;  // that are taken at all; 0: any number
  std::size_t transfers = 1024;                   // under way
  std::size_t transfers_of_one_port = 32;
  std::size_t transfer_bytes = std::size_t{256} << 20;             // of answers under way
  std::size_t transfer_bytes_of_one_port = std::size_t{16} << 20;  // a port's first may exceed it
  std::size_t half_open = 256;  // requests in segments that are still coming
  std::size_t half_open_of_one_port = 4;
  bool own_gids_only = false;          // see speaks_for_another(); not of the trusted
  std::size_t requests_per_turn = 32;  // of the loop, which is the manager's too
  std::size_t cost_per_turn = 1024;    // likewise; see Answer::cost. The last may exceed it
  QueryLimits query;
  RmppTiming rmpp;
  RmppReceiverLimits receiving;
};

/// What was asked for, and how the answer ended.
struct AnsweredAs {
  std::uint16_t attribute = 0;  // raw; 0: none of RecordId
  Status status = Status::Ok;

  friend auto operator<=>(const AnsweredAs&, const AnsweredAs&) = default;
};

struct ServerStats {
  std::uint64_t requests = 0;   // well-formed, of a method that wants an answer
  std::uint64_t answered = 0;   // status 0
  std::uint64_t refused = 0;    // any other status
  std::uint64_t busy = 0;       // too many transfers: refused; no view that knows the port: dropped
  std::uint64_t records = 0;    // in answers
  std::uint64_t malformed = 0;  // dropped
  std::uint64_t unasked = 0;    // dropped: answers, traps, control of unknown transfers
  std::uint64_t wrong_key = 0;  // dropped: an SM_Key that is neither 0 nor the trusted one
  std::uint64_t flooded = 0;    // dropped: the port's queue, or room for all queues, was full
  std::uint64_t too_fast = 0;   // dropped: more of one port in 100 ms than are taken
  std::uint64_t foreign = 0;    // refused: in the name of another port
  std::uint64_t repeated = 0;   // dropped: the answer to the same request is under way
  std::uint64_t transfers = 0;  // begun
  std::uint64_t transfers_failed = 0;
  std::uint64_t segments_resent = 0;
  std::uint64_t send_errors = 0;
  std::map<AnsweredAs, std::uint64_t> by_attribute;  // answers, whatever came of the transfer

  friend bool operator==(const ServerStats&, const ServerStats&) = default;
};

class Server {
 public:
  /// Takes the handlers of `transport`. Both outlive this.
  Server(Runtime& runtime, Transport& transport, ServerLimits limits = {});
  ~Server();
  Server(const Server&) = delete;

  /// From now on; what is beyond stays until it is over.
  void set_limits(const ServerLimits& limits);

  /// What requests are answered from, from now on; answers under way go on as they were.
  void adopt(std::shared_ptr<const SubnetView> view);

  /// Whether a view is being made that may know who is not known now: they wait for it, for a
  /// second at most. Null: none ever is.
  void set_expects_view(std::function<bool()> expects) { expects_view_ = std::move(expects); }

  /// When the choice of paths may have changed: whether PathRecords are answered off the loop.
  void decide_off_loop();

  /// Asked, in this order, before the view is. They outlive this.
  void add_manager(RecordManager& manager) { keepers_.push_back(&manager); }

  /// Measures turns: after one of more than a millisecond, as whole tables of a large fabric take,
  /// the rest of the loop has three times as long to itself. None: turns follow each other at once.
  void set_wall(std::function<Duration()> wall) { wall_ = std::move(wall); }

  /// Answers to what we sent of our own accord, such as Reports; others are dropped.
  void on_answer(Transport::Receive handler) { on_answer_ = std::move(handler); }

  /// What a client would be answered, whatever came of the transfer; Busy before there is a view.
  [[nodiscard]] Answer ask(const Query& query);

  /// Tables that requests wait for may be there: these are answered again. After 10 s each is, with
  /// what is known.
  void go_on();

  /// A MAD of our own accord.
  Result<void> send_request(const MadPacket& packet) { return transport_.send(packet); }

  /// With what was answered off the loop.
  [[nodiscard]] ServerStats stats() const;

  [[nodiscard]] std::size_t transfers() const { return transfers_.size(); }

  /// Requests in segments, until they are answered.
  [[nodiscard]] std::size_t half_open() const { return receptions_.size(); }

  /// Requests that wait for their turn.
  [[nodiscard]] std::size_t waiting() const { return waiting_count_; }

  /// Requests that wait for something to be read, or for a view.
  [[nodiscard]] std::size_t parked() const { return parked_.size(); }

 private:
  struct ClientId {
    Lid lid;
    std::uint32_t qp = 0;

    friend auto operator<=>(const ClientId&, const ClientId&) = default;
  };

  struct TransferId {
    ClientId client;
    std::uint64_t transaction = 0;

    friend auto operator<=>(const TransferId&, const TransferId&) = default;
  };

  struct Transfer {
    Lid port;           // whose limits it counts against
    std::size_t bytes;  // likewise
    MadPacket address;  // of the request; its MAD means nothing
    RmppSender sender;
    bool goes_on = false;  // in going_on_
  };

  struct Reception {
    Lid port;           // whose limits it counts against
    MadPacket address;  // of the first segment that came
    RmppReceiver receiver;
    bool queued = false;  // complete, and waiting for its turn
  };

  /// A request that waits for its turn.
  struct Request {
    MadPacket packet;                    // of one in segments: the first that came
    std::vector<std::byte> data;         // of one in segments
    std::optional<TimePoint> parked_at;  // the first time
    std::optional<Answer> answer;        // done, but for the view that the answer waits for
  };

  enum class PendingCause : std::uint8_t { View, Tables };

  struct PendingRequest {
    Lid port;  // whose limits it counts against
    TransferId id;
    PendingCause what;
    Request request;
  };

  using Transfers = std::map<TransferId, Transfer>;
  using Receptions = std::map<TransferId, Reception>;

  /// What a port has under way.
  struct Use {
    std::size_t transfers = 0;
    std::size_t transfer_bytes = 0;
    std::size_t half_open = 0;
    std::size_t parked = 0;

    friend bool operator==(const Use&, const Use&) = default;
  };

  /// Requests of a port since some moment of the last 100 ms.
  struct Pace {
    TimePoint since;
    std::size_t requests = 0;
  };

  void receive(const MadPacket& packet);
  void on_control(const TransferId& id, const SaHeader& header);
  void on_segment(const TransferId& id, const SaHeader& header, const MadPacket& packet);
  [[nodiscard]] Lid port_of(Lid lid) const;
  [[nodiscard]] Use use_of(Lid port) const;
  template <class Change>
  void change_use(Lid port, Change change);
  [[nodiscard]] bool has_room_for_transfer(Lid port, std::size_t bytes) const;
  Receptions::iterator forget(Receptions::iterator reception);
  [[nodiscard]] bool comes_too_fast(Lid lid);
  bool enqueue(Request request);
  void arm_turn();
  void serve_turn();
  std::size_t serve(const Request& request);
  [[nodiscard]] bool expects_view() const;
  [[nodiscard]] bool may_wait(const Request& request, PendingCause what) const;
  void park(const Request& request, PendingCause what);
  void park_or_drop(const Request& request);
  template <class Predicate>
  void resume(Predicate is_due);
  void count(const SaHeader& request, Status status);
  void say_limit(const Query& query);
  void refuse(const MadPacket& packet, const SaHeader& request, Status status);
  void respond(const MadPacket& packet, const SaHeader& request, Answer answer);
  void respond_table(const MadPacket& packet, const SaHeader& header, Answer answer);
  Transfers::iterator advance(Transfers::iterator transfer);
  void send_more();
  void arm_more();
  void tick();
  void arm_tick();
  void send(const MadPacket& to, const MadBytes& mad);
  void send(MadPacket packet);

  Runtime& runtime_;
  Transport& transport_;
  ServerLimits limits_;
  ServerStats stats_;
  std::shared_ptr<const SubnetView> view_;
  std::shared_ptr<PathResponder> paths_ = std::make_shared<PathResponder>();
  std::vector<RecordManager*> keepers_;
  Transport::Receive on_answer_;
  std::function<bool()> expects_view_;
  std::map<Lid, std::deque<Request>> waiting_;  // by port, as the next
  std::deque<Lid> turns_;  // ports with requests, in the order in which they are served
  std::size_t waiting_count_ = 0;
  std::deque<PendingRequest> parked_;
  std::set<TransferId> parked_ids_;
  std::map<Lid, Use> uses_;    // of ports that have anything under way
  std::map<Lid, Pace> paces_;  // of ports that asked lately
  std::size_t transfer_bytes_ = 0;
  Transfers transfers_;
  std::deque<TransferId> going_on_;  // with more to send, in turn; some may be over
  Receptions receptions_;
  std::map<std::pair<Lid, std::uint16_t>, TimePoint> said_;  // limits that were reached: by whom
  std::function<Duration()> wall_;
  TimePoint next_turn_;  // not before
  Timer turn_;
  Timer tick_;
  Timer more_;
  bool answers_off_loop_ = false;
  bool turn_armed_ = false;
  bool tick_armed_ = false;
  bool more_armed_ = false;
};

}  // namespace smd::sa
