#include "smd/transport/umad_ports.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <infiniband/umad.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "smd/transport/receive_queue.h"
#include "smd/transport/receiver_priority.h"

namespace smd {
namespace {

// How long the receiving thread sleeps at most, and so how long the destructor may wait for it.
constexpr int kReceiveMs = 100;
constexpr int kSimulatedReceiveMs = 10;

// libumad2sim's exit handler waits for its receiving thread while holding a lock that this thread
// takes for every MAD: a process that ends with answers under way may hang for ever. So the
// answers are awaited, within reason.
constexpr std::chrono::milliseconds kSettle{500};

// The kernel keeps a request for which it was given a timeout and hands us only answers that match
// one it keeps; with timeout 0 every answer would be dropped. Our own clock decides when to give
// up, so this one is merely longer than any answer is worth; what the kernel hands back at its end
// (status ETIMEDOUT) says nothing new.
constexpr int kKernelTimeoutMs = 5000;

// MADs that are put into the queue in one piece.
constexpr std::size_t kBatch = 256;

// Answers in a row, on either thread. Few: nothing is received while the thread that receives gives
// them, libumad2sim reads nothing while a send waits, and a responder that has gone is asked no
// more after so many.
constexpr std::size_t kAnswersAtOnce = 16;

// Errors in a row that mean a device is gone. A single one may be a wake-up without a cause.
constexpr int kErrorsUntilLost = 3;

constexpr std::uint32_t kGsiQKey = 0x80010000;

/// They are for the loop, and libibumad takes an interrupted wait for a fault of the device.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

/// Bytes of the MAD that mean something. Of a table that fits one segment it is less than the
/// whole, and a client on libumad2sim, where nobody does RMPP, counts records by it.
int length_of(const MadBytes& mad) {
  constexpr unsigned kOneDataSegment = 0x0107;  // type Data; flags Active, First, Last
  constexpr int kBeforePayload = 36;
  const auto at = [&mad](std::size_t i) { return std::to_integer<unsigned>(mad[i]); };
  const bool single = at(1) == static_cast<unsigned>(MgmtClass::SubnAdm) &&
                      (at(25) << 8 | (at(26) & 7)) == kOneDataSegment;
  return single ? kBeforePayload + static_cast<int>(at(35)) : static_cast<int>(kMadSize);
}

struct alignas(8) UmadBuffer {
  std::array<std::byte, sizeof(ib_user_mad) + kMadSize> bytes{};

  [[nodiscard]] void* raw() { return bytes.data(); }

  [[nodiscard]] std::byte* mad() { return static_cast<std::byte*>(umad_get_mad(raw())); }
};

/// A socket towards ibsim holds 166 SMPs, and ibsim another 166 answers. When both are full, ibsim
/// waits for us to read, and libumad2sim reads nothing while a send waits. Requests that timed out
/// still lie there: half of half of … the window is as much again.
constexpr unsigned kMostOnSimulator = 128;

/// libumad2sim's descriptors are numbers that the kernel does not know.
bool is_simulated(int fd) { return fcntl(fd, F_GETFD) < 0 && errno == EBADF; }

/// libibumad reads the version of the kernel's interface once per process: asked before the module
/// is there, it would refuse to open anything ever after. By open(), which libumad2sim intercepts.
bool has_umad_module() {
  const int fd = ::open("/sys/class/infiniband_mad/abi_version", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

std::string where(const UmadPort& port) {
  return fmt::format("{} port {}", port.device, port.port);
}

/// What outlives the transport inside posted tasks.
struct Handlers {
  Transport::Receive receive;
  Transport::Lost lost;
  bool closed = false;
};

/// A management device that is open, the agents on it and the thread that reads it.
struct UmadDevice {
  int fd = -1;
  bool simulated = false;
  std::jthread receiver;  // stopped by hand: it reads what goes with this
};

class UmadTransport final : public Transport {
 public:
  UmadTransport(Runtime& runtime, UmadPorts ports)
      : runtime_(runtime), ports_(std::move(ports)), queue_(runtime) {
    queue_.on_mad([handlers = handlers_](const MadPacket& packet) {
      if (!handlers->closed && handlers->receive) handlers->receive(packet);
    });
  }

  ~UmadTransport() override;

  Result<void> open();

  [[nodiscard]] LocalPort local_port() const override {
    return {ports_.smi.device, ports_.smi.port, ports_.smi.port_guid};
  }

  [[nodiscard]] unsigned most_outstanding() const override {
    return smi_.simulated ? kMostOnSimulator : Transport::most_outstanding();
  }

  [[nodiscard]] bool carries_segments() const override { return !smi_.simulated; }

  /// A SMI of its own is one of planes, where LIDs are not routed for SMPs.
  [[nodiscard]] bool routes_smps_by_lid() const override { return !ports_.split(); }

  [[nodiscard]] ReceiveStats receive_stats() const override {
    ReceiveStats stats = queue_.stats();
    stats.answers_not_sent = answers_not_sent_;
    return stats;
  }

  Result<void> send(const MadPacket& packet) override;

  void set_handlers(Receive receive, Lost lost) override {
    handlers_->receive = std::move(receive);
    handlers_->lost = std::move(lost);
  }

  void set_responder(Responder responder) override {
    const std::lock_guard lock(responder_mutex_);
    responder_ =
        responder.answer ? std::make_shared<const Responder>(std::move(responder)) : nullptr;
  }

  Result<void> set_is_sm(bool is_sm) override;

 private:
  [[nodiscard]] UmadDevice& gsi() { return ports_.split() ? gsi_ : smi_; }

  Result<void> open_device(UmadDevice& device, const UmadPort& port);
  Result<int> register_class(const UmadDevice& device,
                             const UmadPort& port,
                             MgmtClass mgmt_class,
                             int version,
                             std::initializer_list<Method> methods);
  void start_receiving(UmadDevice& device, const UmadPort& port);
  void receive_loop(const UmadDevice& device, const UmadPort& port, const std::stop_token& stop);
  void hand_over(std::vector<MadPacket>& batch, UmadBuffer& for_answers);
  void answer(const Responder* responder, std::span<const MadPacket> requests, UmadBuffer& buffer);
  void answer_loop(const std::stop_token& stop);
  [[nodiscard]] std::shared_ptr<const Responder> responder();
  Result<void> send_from(UmadBuffer& buffer, const MadPacket& packet);
  void report_loss(const UmadPort& port, int error_number);

  Runtime& runtime_;
  UmadPorts ports_;
  UmadDevice smi_;
  UmadDevice gsi_;  // unused where one device has both
  int issm_fd_ = -1;
  int directed_agent_ = -1;
  int lid_agent_ = -1;
  int administration_agent_ = -1;
  int congestion_agent_ = -1;        // absent where somebody else on this port takes its traps
  int performance_agent_ = -1;       // for answers alone
  std::atomic<int> unanswered_ = 0;  // requests, as far as answers came; only simulation needs it
  UmadBuffer send_buffer_;
  std::shared_ptr<Handlers> handlers_ = std::make_shared<Handlers>();
  ReceiveQueue queue_;
  RequestQueue requests_{ReceiveQueue::kLimits[static_cast<std::size_t>(MadKind::Request)]};
  std::mutex responder_mutex_;
  std::shared_ptr<const Responder> responder_;  // null: all requests are the loop's
  std::atomic<std::uint64_t> answers_not_sent_ = 0;
  std::jthread answering_;  // stopped by hand, after those that give to it
};

UmadTransport::~UmadTransport() {
  handlers_->closed = true;
  for (UmadDevice* device : {&smi_, &gsi_}) device->receiver.request_stop();
  for (UmadDevice* device : {&smi_, &gsi_}) {
    if (device->receiver.joinable()) device->receiver.join();
  }
  answering_.request_stop();
  if (answering_.joinable()) answering_.join();
  if (issm_fd_ >= 0) close(issm_fd_);
  // libumad2sim's own receiving thread writes into what closing frees; it cleans up at exit.
  for (const UmadDevice* device : {&smi_, &gsi_}) {
    if (device->fd >= 0 && !device->simulated) umad_close_port(device->fd);
  }
}

Result<void> UmadTransport::open_device(UmadDevice& device, const UmadPort& port) {
  errno = 0;
  device.fd = umad_open_port(port.device.c_str(), port.port.value());
  if (device.fd < 0) {
    // -EIO stands for whatever open() said.
    const int error_number = device.fd == -EIO && errno != 0 ? errno : -device.fd;
    return tl::unexpected(umad_error(UmadStep::Open, error_number, where(port)));
  }
  device.simulated = is_simulated(device.fd);
  return {};
}

Result<void> UmadTransport::open() {
  if (!has_umad_module())
    return tl::unexpected(umad_error(UmadStep::Open, ENOENT, where(ports_.smi)));
  if (const auto opened = open_device(smi_, ports_.smi); !opened) return opened;
  if (ports_.split()) {
    if (const auto opened = open_device(gsi_, ports_.gsi); !opened) return opened;
  }
  const auto of_managers = {Method::Get, Method::Set, Method::Trap, Method::TrapRepress};
  const Result<int> directed =
      register_class(smi_, ports_.smi, MgmtClass::SubnDirected, 1, of_managers);
  if (!directed) return tl::unexpected(directed.error());
  const Result<int> lid = register_class(smi_, ports_.smi, MgmtClass::SubnLid, 1, of_managers);
  if (!lid) return tl::unexpected(lid.error());
  // Segments are our own business: no RMPP in the kernel. GetTraceTable, GetMulti and Delete exist
  // in this class alone.
  const Result<int> administration = register_class(
      gsi(),
      ports_.gsi,
      MgmtClass::SubnAdm,
      2,
      {Method::Get, Method::Set, Method::GetTable, Method{0x13}, Method{0x14}, Method{0x15}});
  if (!administration) return tl::unexpected(administration.error());
  const Result<int> congestion =
      register_class(gsi(), ports_.gsi, MgmtClass::CongestionControl, 2, {Method::Trap});
  congestion_agent_ = congestion.value_or(-1);
  performance_agent_ =
      register_class(gsi(), ports_.gsi, MgmtClass::Performance, 1, {}).value_or(-1);
  directed_agent_ = *directed;
  lid_agent_ = *lid;
  administration_agent_ = *administration;
  answering_ = std::jthread([this](const std::stop_token& stop) { answer_loop(stop); });
  start_receiving(smi_, ports_.smi);
  if (ports_.split()) start_receiving(gsi_, ports_.gsi);
  return {};
}

void UmadTransport::start_receiving(UmadDevice& device, const UmadPort& port) {
  device.receiver = std::jthread(
      [this, &device, &port](const std::stop_token& stop) { receive_loop(device, port, stop); });
}

/// For answers, and for requests by these methods, which the kernel leaves to us.
Result<int> UmadTransport::register_class(const UmadDevice& device,
                                          const UmadPort& port,
                                          MgmtClass mgmt_class,
                                          int version,
                                          std::initializer_list<Method> methods) {
  std::array<long, 16 / sizeof(long)> mask{};
  constexpr std::size_t kBits = 8 * sizeof(long);
  for (const Method method : methods) {
    const auto bit = static_cast<std::size_t>(method);
    mask[bit / kBits] |= 1L << bit % kBits;
  }
  errno = 0;
  const int agent = umad_register(device.fd, static_cast<int>(mgmt_class), version, 0, mask.data());
  // The library answers -EPERM whatever the kernel said.
  if (agent < 0) {
    return tl::unexpected(umad_error(UmadStep::Register, errno != 0 ? errno : EBUSY, where(port)));
  }
  return agent;
}

Result<void> UmadTransport::send(const MadPacket& packet) {
  return send_from(send_buffer_, packet);
}

/// On the loop, and on the thread that answers: each has a buffer of its own, all else is atomic or
/// was set when the port was opened.
Result<void> UmadTransport::send_from(UmadBuffer& buffer, const MadPacket& packet) {
  const auto mgmt_class = static_cast<MgmtClass>(packet.mad[1]);
  const bool subnet = mgmt_class == MgmtClass::SubnDirected || mgmt_class == MgmtClass::SubnLid;
  const UmadPort& port = subnet ? ports_.smi : ports_.gsi;
  int agent = -1;
  if (mgmt_class == MgmtClass::SubnDirected) agent = directed_agent_;
  if (mgmt_class == MgmtClass::SubnLid) agent = lid_agent_;
  if (mgmt_class == MgmtClass::SubnAdm) agent = administration_agent_;
  if (mgmt_class == MgmtClass::CongestionControl) agent = congestion_agent_;
  if (mgmt_class == MgmtClass::Performance) agent = performance_agent_;
  if (agent < 0) {
    return fail(
        Errc::Invalid,
        fmt::format(
            "{}: class 0x{:02x} is not ours", where(port), static_cast<unsigned>(mgmt_class)));
  }
  buffer.bytes.fill(std::byte{0});
  umad_set_addr_net(buffer.raw(),
                    htons(packet.remote_lid.value()),
                    htonl(packet.remote_qp),
                    packet.sl,
                    packet.local_qp == 0 ? 0 : htonl(kGsiQKey));
  umad_set_pkey(buffer.raw(), packet.pkey_index);
  std::memcpy(buffer.mad(), packet.mad.data(), kMadSize);
  const bool response = is_response(static_cast<Method>(packet.mad[3]));
  const int timeout_ms = response ? 0 : kKernelTimeoutMs;
  const int fd = (subnet ? smi_ : gsi()).fd;
  if (umad_send(fd, agent, buffer.raw(), length_of(packet.mad), timeout_ms, 0) < 0) {
    return tl::unexpected(umad_error(UmadStep::Send, errno, where(port)));
  }
  if (!response) ++unanswered_;
  return {};
}

Result<void> UmadTransport::set_is_sm(bool is_sm) {
  if (!is_sm) {
    if (issm_fd_ >= 0) close(issm_fd_);
    issm_fd_ = -1;
    return {};
  }
  if (issm_fd_ >= 0) return {};
  std::array<char, 256> path{};
  const int found = umad_get_issm_path(ports_.smi.device.c_str(),
                                       ports_.smi.port.value(),
                                       path.data(),
                                       static_cast<int>(path.size()));
  if (found < 0) return tl::unexpected(umad_error(UmadStep::ShowSm, ENODEV, where(ports_.smi)));
  // Non-blocking: otherwise the kernel waits until the present holder lets go.
  issm_fd_ = ::open(path.data(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (issm_fd_ < 0) return tl::unexpected(umad_error(UmadStep::ShowSm, errno, where(ports_.smi)));
  return {};
}

/// A thread, since libumad2sim's descriptors exist for libibumad's calls alone: epoll refuses them.
void UmadTransport::receive_loop(const UmadDevice& device,
                                 const UmadPort& port,
                                 const std::stop_token& stop) {
  ReceiverPriority priority;
  block_signals();
  UmadBuffer buffer, for_answers;
  std::vector<MadPacket> batch;
  batch.reserve(kBatch);
  int errors = 0;
  const int patience = device.simulated ? kSimulatedReceiveMs : kReceiveMs;
  std::optional<std::chrono::steady_clock::time_point> give_up;
  for (;;) {
    if (stop.stop_requested()) {
      const auto now = std::chrono::steady_clock::now();
      if (!give_up) give_up = now + kSettle;
      if (!device.simulated || unanswered_ <= 0 || now >= *give_up) return;
    }
    int length = kMadSize;
    errno = 0;
    const int agent = umad_recv(device.fd, buffer.raw(), &length, batch.empty() ? patience : 0);
    // -EIO stands for whatever poll() said.
    const bool interrupted = agent == -EINTR || (agent == -EIO && errno == EINTR);
    if (agent >= 0) {
      errors = 0;
      if (umad_status(buffer.raw()) != 0 || length < static_cast<int>(kMadSize)) continue;
      const ib_mad_addr_t& from = *umad_get_mad_addr(buffer.raw());
      MadPacket& packet = batch.emplace_back();
      packet.remote_lid = Lid{ntohs(from.lid)};
      packet.local_qp = agent == directed_agent_ || agent == lid_agent_ ? 0 : 1;
      packet.remote_qp = ntohl(from.qpn);
      packet.sl = from.sl;
      packet.pkey_index = static_cast<std::uint16_t>(umad_get_pkey(buffer.raw()));
      std::memcpy(packet.mad.data(), buffer.mad(), kMadSize);
      if (is_response(static_cast<Method>(packet.mad[3]))) --unanswered_;
      if (batch.size() < kBatch) continue;
      priority.note(batch.size());
      hand_over(batch, for_answers);
      continue;
    }
    priority.note(batch.size());
    if (!batch.empty()) hand_over(batch, for_answers);
    if (agent == -ETIMEDOUT || agent == -EAGAIN || interrupted) {
      errors = 0;
    } else if (agent == -ENODEV || ++errors == kErrorsUntilLost) {
      return report_loss(port, -agent);
    }
  }
}

/// Leaves it empty. What may be answered at once goes to nobody else: the first few are answered
/// here, since waking another thread takes longer than the answer, the others by the thread that
/// answers. All else goes to the loop, and what finds no room there.
void UmadTransport::hand_over(std::vector<MadPacket>& batch, UmadBuffer& for_answers) {
  const std::shared_ptr<const Responder> responder = this->responder();
  const auto requests = std::ranges::stable_partition(batch, [&](const MadPacket& packet) {
    return responder == nullptr || !responder->may_answer(packet);
  });
  const std::span<const MadPacket> others(batch.begin(), requests.begin());
  if (!others.empty()) queue_.put(others);
  if (!requests.empty()) {
    const std::span<const MadPacket> all(requests);
    const std::size_t here = std::min(all.size(), kAnswersAtOnce);
    answer(responder.get(), all.first(here), for_answers);
    std::vector<MadPacket> rest;
    if (here < all.size()) requests_.put(all.subspan(here), rest);
    if (!rest.empty()) queue_.put(rest);
  }
  batch.clear();
}

std::shared_ptr<const Transport::Responder> UmadTransport::responder() {
  const std::lock_guard lock(responder_mutex_);
  return responder_;
}

/// What does not go out is like what gets lost: clients ask again.
void UmadTransport::answer(const Responder* responder,
                           std::span<const MadPacket> requests,
                           UmadBuffer& buffer) {
  for (const MadPacket& packet : requests) {
    const std::optional<MadPacket> answer =
        responder != nullptr ? responder->answer(packet) : std::nullopt;
    if (!answer) {
      queue_.put({&packet, 1});
    } else if (!send_from(buffer, *answer)) {
      ++answers_not_sent_;
    }
  }
}

void UmadTransport::answer_loop(const std::stop_token& stop) {
  ask_for_short_slices();
  UmadBuffer buffer;
  std::vector<MadPacket> batch;
  while (requests_.take(kAnswersAtOnce, batch, stop)) {
    answer(responder().get(), batch, buffer);
    batch.clear();
  }
}

void UmadTransport::report_loss(const UmadPort& port, int error_number) {
  runtime_.post(
      [handlers = handlers_, error = umad_error(UmadStep::Receive, error_number, where(port))] {
        // Of two devices that go together the first says so.
        if (!handlers->closed && handlers->lost) std::exchange(handlers->lost, nullptr)(error);
      });
}

}  // namespace

Result<std::unique_ptr<Transport>> open_umad_transport(Runtime& runtime,
                                                       const UmadSelection& selection) {
  const Result<UmadPorts> ports = select_ports(list_ports(), list_pairs(), selection);
  if (!ports) return tl::unexpected(ports.error());
  auto transport = std::make_unique<UmadTransport>(runtime, *ports);
  if (const Result<void> opened = transport->open(); !opened) {
    return tl::unexpected(opened.error());
  }
  return transport;
}

}  // namespace smd
