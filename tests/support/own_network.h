// A network of the test's own: a loopback that nobody else reaches, for programs that listen on
// every interface whatever they are told.
#pragma once

#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace smd::test {

class OwnNetwork {
 public:
  /// This thread, and what it starts from now on, is in there. Requires: no other thread.
  OwnNetwork() : before_(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
    const std::string user = std::to_string(::getuid()), group = std::to_string(::getgid());
    if (::unshare(CLONE_NEWNET) != 0) {
      // An ordinary user may have one where the kernel lets him be master of a namespace.
      if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
        refuse("unshare");
        return;
      }
      std::ofstream("/proc/self/setgroups") << "deny";
      std::ofstream("/proc/self/uid_map") << user + " " + user + " 1";
      std::ofstream("/proc/self/gid_map") << group + " " + group + " 1";
    }
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq loopback{};
    std::strcpy(loopback.ifr_name, "lo");
    loopback.ifr_flags = IFF_UP;
    if (::ioctl(fd, SIOCSIFFLAGS, &loopback) != 0) refuse("lo up");
    ::close(fd);
  }

  /// Back to where it was, but for an ordinary user.
  ~OwnNetwork() {
    static_cast<void>(::setns(before_, CLONE_NEWNET));
    ::close(before_);
  }

  OwnNetwork(const OwnNetwork&) = delete;

  /// 127.0.0.2 as well. getaddrinfo() takes a machine that has 127.0.0.1 alone for one without IPv4
  /// (AI_ADDRCONFIG), and Slurm's daemons then listen nowhere; mpirun takes no more than that.
  void add_address() {
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in other{};
    other.sin_family = AF_INET;
    other.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
    ifreq loopback{};
    std::strcpy(loopback.ifr_name, "lo:1");
    std::memcpy(&loopback.ifr_addr, &other, sizeof other);
    if (::ioctl(fd, SIOCSIFADDR, &loopback) != 0) refuse("127.0.0.2");
    ::close(fd);
  }

  /// Why there is none; empty where there is.
  [[nodiscard]] const std::string& fault() const { return fault_; }

  /// By name.
  [[nodiscard]] static std::vector<std::string> interfaces() {
    std::ifstream file("/proc/thread-self/net/dev");
    std::vector<std::string> out;
    for (std::string line; std::getline(file, line);) {
      const std::size_t end = line.find(':'), from = line.find_first_not_of(' ');
      if (end != std::string::npos) out.push_back(line.substr(from, end - from));
    }
    return out;
  }

 private:
  void refuse(const char* what) {
    fault_ = std::string("no network namespace to be had: ") + what + ": " + std::strerror(errno);
  }

  int before_;
  std::string fault_;
};

}  // namespace smd::test
