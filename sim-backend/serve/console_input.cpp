#include "sim-backend/serve/console_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstdio>
#include <string>

#include "sim-backend/serve/unix_socket.h"

namespace smd::sim {
namespace {

using Descriptor = boost::asio::posix::stream_descriptor;

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

struct ConsoleInput::Impl {
  Impl(AsioRuntime& r, Console& c, int fd, std::function<void()> q)
      : console(c), quit(std::move(q)), input(r.io()) {
    Fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (copy.get() < 0) return;  // stdin is closed: nobody types
    print("sim> ");
    boost::system::error_code refused;
    input.assign(copy.get(), refused);
    if (refused) {
      // A file or /dev/null, which no poller takes and which never blocks.
      while (read_some(copy.get())) {
      }
      return;
    }
    (void)copy.release();
    wait();
  }

  void wait() {
    input.async_wait(Descriptor::wait_read, [this](const boost::system::error_code& error) {
      if (error) return;
      if (read_some(input.native_handle())) wait();
    });
  }

  /// One read; false at the end of the input.
  bool read_some(int fd) {
    std::array<char, 4096> buffer;
    const ssize_t size = ::read(fd, buffer.data(), buffer.size());
    if (size < 0) return errno == EINTR || errno == EAGAIN;
    for (ssize_t i = 0; i < size; ++i) take(buffer[static_cast<std::size_t>(i)]);
    if (size == 0 && !line.empty()) take('\n');
    return size > 0 && !console.wants_to_quit();
  }

  void take(char c) {
    if (console.wants_to_quit()) return;
    if (c != '\n') {
      too_long = too_long || line.size() == kLongestLine;
      if (!too_long) line.push_back(c);
      return;
    }
    print(too_long ? "# a line has at most " + std::to_string(kLongestLine) + " characters\n"
                   : console.run(line));
    line.clear();
    too_long = false;
    if (console.wants_to_quit()) return quit();
    print("sim> ");
  }

  Console& console;
  std::function<void()> quit;
  Descriptor input;
  std::string line;
  bool too_long = false;
};

ConsoleInput::ConsoleInput(AsioRuntime& runtime,
                           Console& console,
                           int fd,
                           std::function<void()> quit)
    : impl_(std::make_unique<Impl>(runtime, console, fd, std::move(quit))) {}

ConsoleInput::~ConsoleInput() = default;

}  // namespace smd::sim
