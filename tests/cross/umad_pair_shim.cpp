// An adapter with its SMI on one device and its GSI on another, as XDR adapters have them:
// preloaded in front of libibumad, it shows ibsim's one adapter as two devices,
//
//   smi0   takes the classes of subnet management alone
//   xdr0   takes all others alone
//
// $SMD_UMAD_PAIR says how one learns that they belong together: "guid", both have the port GUID and
// xdr0 shows IsSMdisabled; or "library", by umad_get_smi_gsi_pairs(), and GUIDs differ. Each
// request is one word and a new line in the file $SMD_UMAD_PAIR_LOG: "directed", "by-lid" or "gsi".
#include <dlfcn.h>
#include <endian.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/cross/umad_shim.h"

namespace {

using smd::shim::beneath;
using std::chrono_literals::operator""ms;

constexpr std::string_view kSmi = "smi0", kGsi = "xdr0";
constexpr int kSmiHandle = 5000, kGsiHandle = 5001;  // numbers that the kernel does not know
constexpr std::uint32_t kIsSmDisabled = 1u << 10;
constexpr std::size_t kMad = 256;

bool by_guid() {
  const char* how = std::getenv("SMD_UMAD_PAIR");
  return how != nullptr && std::string_view(how) == "guid";
}

std::string real_name() {
  char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
  const int count =
      beneath<int(char[][UMAD_CA_NAME_LEN], int)>("umad_get_cas_names")(names, UMAD_MAX_DEVICES);
  return count > 0 ? names[0] : "";
}

void note(const char* word) {
  const char* path = std::getenv("SMD_UMAD_PAIR_LOG");
  if (path == nullptr) return;
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string line = std::string(word) + "\n";
  [[maybe_unused]] const ssize_t written = ::write(fd, line.data(), line.size());
  ::close(fd);
}

bool is_subnet(int mgmt_class) { return mgmt_class == 0x01 || mgmt_class == 0x81; }

/// One real port behind both devices; what it receives goes to the device whose agent it is for.
class Port {
 public:
  int open(int number) {
    const std::lock_guard lock(mutex_);
    if (fd_ >= 0) return 0;
    fd_ = beneath<int(const char*, int)>("umad_open_port")(real_name().c_str(), number);
    if (fd_ < 0) return fd_;
    std::atexit([] { instance().stop(); });  // before libumad2sim's
    reader_ = std::thread([this] { read(); });
    return 0;
  }

  int add_agent(int handle, int mgmt_class, int version, std::uint8_t rmpp, long* mask) {
    if (is_subnet(mgmt_class) != (handle == kSmiHandle)) {
      errno = EPROTONOSUPPORT;
      return -EPERM;
    }
    const int agent = beneath<int(int, int, int, std::uint8_t, long*)>("umad_register")(
        fd_, mgmt_class, version, rmpp, mask);
    const std::lock_guard lock(mutex_);
    if (agent >= 0) owner_[static_cast<std::size_t>(agent)] = handle;
    return agent;
  }

  int send(int handle, int agent, void* umad, int length, int timeout, int retries) {
    {
      const std::lock_guard lock(mutex_);
      if (owner_[static_cast<std::size_t>(agent)] != handle) {
        errno = EINVAL;
        return -EIO;
      }
    }
    const auto* mad = static_cast<const unsigned char*>(umad_get_mad(umad));
    if ((mad[3] & 0x80) == 0) note(mad[1] == 0x81 ? "directed" : mad[1] == 0x01 ? "by-lid" : "gsi");
    return beneath<int(int, int, void*, int, int, int)>("umad_send")(
        fd_, agent, umad, length, timeout, retries);
  }

  int receive(int handle, void* umad, int* length, int timeout) {
    std::unique_lock lock(mutex_);
    auto& queue = waiting_[handle == kSmiHandle ? 0 : 1];
    if (!arrived_.wait_for(
            lock, std::chrono::milliseconds(timeout), [&] { return !queue.empty(); }))
      return -ETIMEDOUT;
    const Arrived first = std::move(queue.front());
    queue.pop_front();
    std::memcpy(umad, first.bytes.data(), first.bytes.size());
    *length = first.length;
    return first.agent;
  }

  static Port& instance() {
    static auto* const port = new Port;
    return *port;
  }

 private:
  struct Arrived {
    int agent = 0;
    int length = 0;
    std::array<char, sizeof(ib_user_mad) + kMad> bytes{};
  };

  void read() {
    while (!stopped_) {
      Arrived next{.length = static_cast<int>(kMad)};
      next.agent = beneath<int(int, void*, int*, int)>("umad_recv")(
          fd_, next.bytes.data(), &next.length, 10);
      if (next.agent < 0) continue;
      const std::lock_guard lock(mutex_);
      const int handle = owner_[static_cast<std::size_t>(next.agent)];
      waiting_[handle == kSmiHandle ? 0 : 1].push_back(next);
      arrived_.notify_all();
    }
  }

  void stop() {
    std::this_thread::sleep_for(100ms);  // libumad2sim's exit handler hangs while answers come
    stopped_ = true;
    reader_.join();
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  int fd_ = -1;
  std::array<int, 64> owner_{};  // handle, by agent
  std::array<std::deque<Arrived>, 2> waiting_;
  std::atomic<bool> stopped_ = false;
  std::thread reader_;
};

}  // namespace

struct Pair {
  char smi[UMAD_CA_NAME_LEN];
  std::uint32_t smi_port;
  char gsi[UMAD_CA_NAME_LEN];
  std::uint32_t gsi_port;
};

extern "C" {

int umad_get_cas_names(char names[][UMAD_CA_NAME_LEN], int most) {
  if (real_name().empty() || most < 2) return 0;
  std::strcpy(names[0], kGsi.data());  // the wrong one first
  std::strcpy(names[1], kSmi.data());
  return 2;
}

int umad_get_ca(const char* name, umad_ca_t* ca) {
  const std::string real = real_name();
  if (beneath<int(const char*, umad_ca_t*)>("umad_get_ca")(real.c_str(), ca) < 0) return -1;
  std::strcpy(ca->ca_name, name);
  for (umad_port_t* port : ca->ports) {
    if (port == nullptr) continue;
    std::strcpy(port->ca_name, name);
    if (name != kGsi) continue;
    if (by_guid())
      port->capmask |= htobe32(kIsSmDisabled);
    else
      port->port_guid = htobe64(be64toh(port->port_guid) + 0x100000);
  }
  return 0;
}

int umad_get_issm_path(const char* name, int number, char path[], int most) {
  if (name != kSmi) return -EINVAL;
  return beneath<int(const char*, int, char*, int)>("umad_get_issm_path")(
      real_name().c_str(), number, path, most);
}

int umad_open_port(const char* name, int number) {
  const int opened = Port::instance().open(number);
  return opened < 0 ? opened : name == kSmi ? kSmiHandle : kGsiHandle;
}

int umad_register(int handle, int mgmt_class, int version, uint8_t rmpp, long mask[]) {
  return Port::instance().add_agent(handle, mgmt_class, version, rmpp, mask);
}

int umad_send(int handle, int agent, void* umad, int length, int timeout, int retries) {
  return Port::instance().send(handle, agent, umad, length, timeout, retries);
}

int umad_recv(int handle, void* umad, int* length, int timeout) {
  return Port::instance().receive(handle, umad, length, timeout);
}

int umad_get_smi_gsi_pairs(Pair pairs[], size_t most) {
  if (by_guid() || most == 0) return -1;
  pairs[0] = {.smi_port = 1, .gsi_port = 1};
  std::strcpy(pairs[0].smi, kSmi.data());
  std::strcpy(pairs[0].gsi, kGsi.data());
  return 1;
}
}
