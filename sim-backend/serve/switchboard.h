// Programs on simulated nodes: who is attached where, and which MAD belongs to whom.
//
// Plays the part of the kernel's MAD layer on every node that has clients: answers go to the
// client that asked, requests to the client that said it is the subnet manager, and a request
// that stays without an answer, or a trap that nobody represses, comes back with status 110.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim-backend/management/sim_fabric.h"
#include "sim-backend/serve/frames.h"
#include "sim-backend/serve/transactions.h"
#include "smd/runtime/runtime.h"

namespace smd::sim {

/// The way to the clients' processes.
class ClientWire {
 public:
  virtual ~ClientWire() = default;

  /// The process `pid` will be client number `client`.
  virtual Result<void> open(unsigned client, std::uint32_t pid) = 0;
  virtual void close(unsigned client) = 0;
  virtual void send(unsigned client, const PacketFrame& frame) = 0;

  /// False when the process is known to be gone.
  virtual bool is_alive(unsigned client) = 0;
};

struct SwitchboardOptions {
  unsigned max_clients = 64;
  /// For what a simulated agent answers. Zero where the fabric's Timing is all zero: then an SMP
  /// that has no answer once the fabric is done with it is lost.
  Duration agent_timeout{0};
  unsigned agent_retries = 3;
  Duration program_timeout = std::chrono::seconds(10);  // for what another client answers
  Duration trap_timeout = std::chrono::seconds(1);      // for the TrapRepress of a client's trap
};

struct SwitchboardStats {
  std::uint64_t from_clients = 0;
  std::uint64_t to_clients = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t timed_out = 0;  // went back with status 110
  std::uint64_t stray = 0;      // for no client here: late answers, requests without a manager
  std::uint64_t malformed = 0;
};

struct ClientView {
  unsigned number = 0;
  std::uint32_t pid = 0;
  std::uint32_t node = kNoNode;
  PortNum port;
  bool is_sm = false;
  std::size_t waiting = 0;  // requests without an answer so far
};

/// The latest traps that one client received, by transaction id.
class TrapIds {
 public:
  void note(std::uint64_t id);

  /// The id of the trap that `id` is about, whatever an agent's number did to it.
  [[nodiscard]] std::optional<std::uint64_t> find(std::uint64_t id) const;

 private:
  static constexpr std::size_t kRemembered = 64;

  std::vector<std::uint64_t> ring_;
  std::size_t next_ = 0;
};

class Switchboard {
 public:
  Switchboard(Runtime& runtime, SimFabric& fabric, ClientWire& wire, SwitchboardOptions options);
  ~Switchboard();
  Switchboard(const Switchboard&) = delete;

  /// The answer to a control datagram.
  [[nodiscard]] ControlFrame on_control(const ControlFrame& request);

  void on_packet(unsigned client, PacketFrame frame);

  /// A datagram that no decoder took.
  void on_malformed(const Error& error);

  /// Requests of a client that is gone are forgotten. Unknown numbers are ignored.
  void disconnect(unsigned client);

  /// Detaches clients whose processes have died.
  void disconnect_dead();

  [[nodiscard]] std::vector<ClientView> clients() const;

  [[nodiscard]] const SwitchboardStats& stats() const { return stats_; }

 private:
  struct PendingTrap {
    TimePoint deadline;
    PacketFrame frame;
  };

  struct Client {
    explicit Client(unsigned number) : table(number) {}

    std::uint32_t pid = 0;
    std::uint32_t qp = 0;
    std::uint32_t node = kNoNode;
    PortNum port;
    bool is_sm = false;
    std::array<bool, 256> spoke{};  // classes that the client has sent: it has an agent for them
    TrapIds delivered;              // what it is to repress
    std::deque<PendingTrap> sent;   // what others are to repress, oldest first
    TransactionTable table;
  };

  using Place = std::pair<std::uint32_t, PortNum>;

  struct Attachment {
    SimFabric::ClientId id{};
    unsigned clients = 0;
  };

  [[nodiscard]] Client* find_client(unsigned number);
  [[nodiscard]] std::optional<Place> find_place(const std::string& name) const;
  [[nodiscard]] std::optional<unsigned> find_manager(Place place) const;
  Result<ConnectData> connect(const ConnectData& wanted);
  Result<void> set_is_sm(unsigned number, bool is_sm);
  void inject(Client& client, const PacketFrame& frame);
  void track(unsigned number, Client& client, PacketFrame& frame);
  void on_fabric(Place place, const MadPacket& packet);
  void deliver_answer(Place place, const MadPacket& packet);
  void deliver_request(Place place, const MadPacket& packet);
  void deliver_repress(Place place, const MadPacket& packet);
  [[nodiscard]] PacketFrame frame_for(Place place, const MadPacket& packet) const;
  void hand_to(unsigned number, const PacketFrame& frame);
  void on_lost(unsigned number, Client& client, Transaction& transaction);
  void keep_trap(Client& client, const PacketFrame& frame);
  void return_traps(unsigned number, Client& client, TimePoint now);
  void send_tracked(Client& client, Transaction& transaction);
  void watch(TimePoint when);
  void on_watch(std::uint64_t sent_before);

  Runtime& runtime_;
  SimFabric& fabric_;
  ClientWire& wire_;
  SwitchboardOptions options_;
  SwitchboardStats stats_;
  std::vector<std::unique_ptr<Client>> clients_;  // by number; null while free
  std::map<Place, Attachment> attachments_;
  Timer watch_;
  TimePoint watch_at_;
  bool watching_ = false;
  std::uint64_t sent_ = 0;  // tracked requests, retransmissions included
};

}  // namespace smd::sim
