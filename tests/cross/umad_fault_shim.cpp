// An adapter that breaks when told: preloaded in front of libumad2sim, it gives libibumad a real
// descriptor, carries MADs between it and ibsim, and fails as the kernel's ib_umad does. What fails
// is written, in words, in the file that $SMD_UMAD_FAULTS names, and is looked up at every call:
//
//   absent       no adapter: sysfs is empty
//   no_umad      an adapter, but no management device
//   open=N       opening the management device fails with errno N
//   register=N   so does registering an agent
//   issm=N       so does showing the IsSM bit
//   send=N       so does every send
//   unplugged    absent, and descriptors die: poll reports an error, read and write fail with EIO
//   interrupted  a signal interrupts every wait for MADs
//   mute         descriptors die as before Linux 5.8: only sends fail, nothing ever arrives
//   reset=N      the descriptor dies at the N-th MAD sent, once; a new one works
//
// A descriptor that died stays dead, also when the fault is lifted.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "tests/cross/umad_shim.h"

/// What umad.h's ioctl numbers are made of, as the kernel lays it out.
struct ib_user_mad_reg_req {
  std::uint32_t id;
  std::uint32_t method_mask[4];
  std::uint8_t qpn;
  std::uint8_t mgmt_class;
  std::uint8_t mgmt_class_version;
  std::uint8_t oui[3];
  std::uint8_t rmpp_version;
};

namespace {

using smd::shim::beneath;
using smd::shim::mode_of;
using smd::shim::Open;
using smd::shim::Write;

using Clock = std::chrono::steady_clock;
using std::chrono_literals::operator""ms;

using Close = int(int);
using Read = ssize_t(int, void*, size_t);
using Ioctl = int(int, unsigned long, ...);
using Poll = int(pollfd*, nfds_t, int);
using Filter = int(const dirent*);
using Compare = int(const dirent**, const dirent**);
using ScanDir = int(const char*, dirent***, Filter*, Compare*);

/// By system calls: the library's own are intercepted below.
std::string read_faults() {
  const char* path = std::getenv("SMD_UMAD_FAULTS");
  if (path == nullptr) return "";
  const long fd = ::syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  std::array<char, 256> text{};
  const long length = ::syscall(SYS_read, fd, text.data(), text.size());
  ::syscall(SYS_close, fd);
  return {text.data(), static_cast<std::size_t>(length < 0 ? 0 : length)};
}

/// The number behind "name=", 1 for a bare name, 0 when it is not there.
int fault(std::string_view name) {
  std::istringstream words(read_faults());
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (word.substr(0, equals) != name) continue;
    return equals == std::string::npos ? 1 : std::atoi(word.c_str() + equals + 1);
  }
  return 0;
}

int fail_with(int error_number) {
  errno = error_number;
  return -1;
}

class Adapter {
 public:
  /// What libibumad gets for the management device.
  int open(const char* path, int flags) {
    if (below_ < 0) {
      below_ = beneath<Open>("open")(path, flags);
      if (below_ < 0) return -1;
      // After libumad2sim's own exit handler, and so run before it.
      std::atexit([] { instance().retire(); });
      carrier_ = std::thread([this] { carry(); });
    }
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) < 0) return -1;
    ::fcntl(ends[0], F_SETFL, flags & O_NONBLOCK);
    const std::lock_guard lock(mutex_);
    far_ = ends[1];
    dead_ = false;
    near_ = ends[0];
    return near_;
  }

  [[nodiscard]] bool owns(int fd) const { return fd >= 0 && fd == near_; }

  void close(int fd) {
    near_ = -1;
    {
      const std::lock_guard lock(mutex_);
      ::syscall(SYS_close, far_);
      far_ = -1;
    }
    ::syscall(SYS_close, fd);
  }

  int ioctl(unsigned long request, void* arg) {
    if (is_dead()) return fail_with(EPIPE);
    if (request != IB_USER_MAD_REGISTER_AGENT) {
      return beneath<Ioctl>("ioctl")(below_, request, arg);
    }
    if (const int error = fault("register")) return fail_with(error);
    auto* wanted = static_cast<ib_user_mad_reg_req*>(arg);
    const auto known = agents_.find(wanted->mgmt_class);
    if (known != agents_.end()) {
      wanted->id = known->second;
      return 0;
    }
    const int result = beneath<Ioctl>("ioctl")(below_, request, arg);
    if (result == 0) agents_[wanted->mgmt_class] = wanted->id;
    return result;
  }

  ssize_t write(const void* data, std::size_t size) {
    if (const int error = fault("send")) return fail_with(error);
    if (fault("mute") != 0) dead_ = true;
    if (const int last = fault("reset"); last > 0 && ++sent_ == last) dead_ = true;
    if (is_dead()) return fail_with(EIO);
    return beneath<Write>("write")(below_, data, size);
  }

  [[nodiscard]] bool is_dead() {
    if (fault("unplugged") != 0) dead_ = true;
    return dead_;
  }

  static Adapter& instance() {
    static auto* const adapter = new Adapter;
    return *adapter;
  }

 private:
  void carry() {
    std::array<char, 1024> mad{};
    while (!stop_) {
      pollfd below{.fd = below_, .events = POLLIN, .revents = 0};
      if (beneath<Poll>("poll")(&below, 1, 10) <= 0) continue;
      const ssize_t size = beneath<Read>("read")(below_, mad.data(), mad.size());
      if (size <= 0) continue;
      busy_ = Clock::now().time_since_epoch().count();
      const std::lock_guard lock(mutex_);
      if (far_ >= 0 && !dead_ && fault("mute") == 0) {
        ::send(far_, mad.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL);
      }
    }
  }

  /// libumad2sim's exit handler hangs while answers come.
  void retire() {
    const auto limit = Clock::now() + 1000ms;
    const auto quiet_since = [this] { return Clock::time_point(Clock::duration(busy_)); };
    while (Clock::now() < limit && Clock::now() - quiet_since() < 50ms) {
      std::this_thread::sleep_for(5ms);
    }
    stop_ = true;
    {
      const std::lock_guard lock(mutex_);
      dead_ = true;
    }
    carrier_.join();
  }

  int below_ = -1;
  std::atomic<int> near_ = -1;
  int far_ = -1;
  std::atomic<bool> dead_ = false;
  std::atomic<bool> stop_ = false;
  std::atomic<int> sent_ = 0;
  std::atomic<Clock::rep> busy_ = 0;
  std::map<int, std::uint32_t> agents_;
  std::mutex mutex_;
  std::thread carrier_;
};

Adapter& adapter() { return Adapter::instance(); }

bool is_absent(std::string_view path) {
  const bool mad_class = path.starts_with("/sys/class/infiniband_mad");
  if (!path.starts_with("/sys/class/infiniband")) return false;
  return fault("absent") != 0 || fault("unplugged") != 0 || (mad_class && fault("no_umad") != 0);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  const std::string_view name(path);
  if (is_absent(name)) return fail_with(ENOENT);
  if (name.starts_with("/dev/infiniband/")) {
    if (fault("unplugged") != 0) return fail_with(ENXIO);
    const bool issm = name.starts_with("/dev/infiniband/issm");
    if (const int error = fault(issm ? "issm" : "open")) return fail_with(error);
    if (!issm) return adapter().open(path, flags);
  }
  return beneath<Open>("open")(path, flags, mode);
}

int close(int fd) {
  if (!adapter().owns(fd)) return beneath<Close>("close")(fd);
  adapter().close(fd);
  return 0;
}

ssize_t read(int fd, void* data, size_t size) {
  if (adapter().owns(fd) && adapter().is_dead()) return fail_with(EIO);
  return beneath<Read>("read")(fd, data, size);
}

ssize_t write(int fd, const void* data, size_t size) {
  if (adapter().owns(fd)) return adapter().write(data, size);
  return beneath<Write>("write")(fd, data, size);
}

int ioctl(int fd, unsigned long request, ...) noexcept {
  std::va_list more;
  va_start(more, request);
  void* const arg = va_arg(more, void*);
  va_end(more);
  if (adapter().owns(fd)) return adapter().ioctl(request, arg);
  return beneath<Ioctl>("ioctl")(fd, request, arg);
}

int poll(pollfd* fds, nfds_t count, int timeout) {
  if (count == 1 && adapter().owns(fds->fd) && fault("mute") == 0 && adapter().is_dead()) {
    fds->revents = POLLERR;
    return 1;
  }
  if (count == 1 && adapter().owns(fds->fd) && fault("interrupted") != 0) {
    std::this_thread::sleep_for(1ms);
    return fail_with(EINTR);
  }
  return beneath<Poll>("poll")(fds, count, timeout);
}

int scandir(const char* path, dirent*** names, Filter* filter, Compare* compare) {
  if (is_absent(path)) return fail_with(ENOENT);
  return beneath<ScanDir>("scandir")(path, names, filter, compare);
}

DIR* opendir(const char* path) {
  if (is_absent(path)) {
    errno = ENOENT;
    return nullptr;
  }
  return beneath<DIR*(const char*)>("opendir")(path);
}
}
