// Once with an acceptor of the test's own in virtual time, once with the kernel out of descriptors.
#include "smd/runtime/tcp_listener.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <deque>

#include "sim-backend/kernel/sim_runtime.h"
#include "smd/runtime/asio_runtime.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

struct FakeError {
  const char* why = nullptr;

  explicit operator bool() const { return why != nullptr; }

  [[nodiscard]] std::string message() const { return why; }
};

/// What the test says next happens to whoever accepts.
struct Desk {
  std::deque<std::function<void(FakeError, int)>> waiting;

  void happen(FakeError error, int socket = 0) {
    ASSERT_FALSE(waiting.empty());
    const auto handler = std::move(waiting.front());
    waiting.pop_front();
    handler(error, socket);
  }
};

struct FakeAcceptor {
  struct protocol_type {
    using socket = int;
  };

  void async_accept(std::function<void(FakeError, int)> handler) {
    desk->waiting.push_back(std::move(handler));
  }

  Desk* desk;
};

class AcceptLoopTest : public testing::Test {
 protected:
  sim::SimRuntime runtime_;
  Desk desk_;
  std::vector<int> taken_;
  std::vector<std::string> errors_;
  bool room_ = true;
  std::optional<AcceptLoop<FakeAcceptor>> loop_{
      std::in_place,
      runtime_,
      FakeAcceptor{&desk_},
      AcceptLoop<FakeAcceptor>::Handlers{
          .on_socket = [this](int socket) { taken_.push_back(socket); },
          .on_error = [this](const std::string& why) { errors_.push_back(why); },
          .has_room = [this] { return room_; }}};
};

TEST_F(AcceptLoopTest, TakesOneAfterTheOther) {
  loop_->start();
  desk_.happen({}, 4);
  desk_.happen({}, 5);
  EXPECT_THAT(taken_, ElementsAre(4, 5));
}

TEST_F(AcceptLoopTest, AfterAnErrorItPausesAndGoesOn) {
  loop_->start();
  desk_.happen({"too many open files"});
  EXPECT_THAT(errors_, ElementsAre("too many open files"));
  loop_->start();
  runtime_.run_until(runtime_.now() + (kAcceptPause - 1ns));
  EXPECT_TRUE(desk_.waiting.empty());
  runtime_.run_until(runtime_.now() + 1ns);
  desk_.happen({}, 6);
  EXPECT_THAT(taken_, ElementsAre(6));
}

TEST_F(AcceptLoopTest, WithoutRoomItWaitsToBeStarted) {
  loop_->start();
  room_ = false;
  desk_.happen({}, 7);
  loop_->start();
  EXPECT_TRUE(desk_.waiting.empty());
  room_ = true;
  loop_->start();
  loop_->start();
  EXPECT_EQ(desk_.waiting.size(), 1u);
}

TEST_F(AcceptLoopTest, NothingComesAfterItsEnd) {
  loop_->start();
  loop_.reset();
  desk_.happen({}, 8);
  EXPECT_TRUE(taken_.empty());
  EXPECT_TRUE(desk_.waiting.empty());
}

TEST_F(AcceptLoopTest, NothingComesAfterAPauseThatItDidNotOutlive) {
  loop_->start();
  desk_.happen({"too many open files"});
  loop_.reset();
  runtime_.run_until(runtime_.now() + 2 * kAcceptPause);
  EXPECT_TRUE(desk_.waiting.empty());
}

/// The next descriptor is one too many.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(0);
    ::close(next);
    const rlimit none{.rlim_cur = static_cast<rlim_t>(next), .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }

  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  NoDescriptors(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(AcceptLoop, WhoConnectedWhileThereWereNoDescriptorsIsTakenLater) {
  using boost::asio::local::stream_protocol;
  AsioRuntime runtime;
  const std::string path = testing::TempDir() + "accept-" + std::to_string(::getpid());
  ::unlink(path.c_str());
  stream_protocol::acceptor acceptor(runtime.io(), stream_protocol::endpoint(path));
  std::optional<NoDescriptors> none;
  std::vector<std::string> errors;
  bool taken = false;
  AcceptLoop<stream_protocol::acceptor> loop(runtime,
                                             std::move(acceptor),
                                             {.on_socket =
                                                  [&](const stream_protocol::socket& socket) {
                                                    taken = socket.is_open();
                                                    runtime.stop();
                                                  },
                                              .on_error =
                                                  [&](const std::string& why) {
                                                    errors.push_back(why);
                                                    none.reset();
                                                  }});
  stream_protocol::socket client(runtime.io());
  client.connect(stream_protocol::endpoint(path));
  none.emplace();
  loop.start();
  runtime.run();
  EXPECT_TRUE(taken);
  EXPECT_THAT(errors, ElementsAre("Too many open files"));
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace smd
