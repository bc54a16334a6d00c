// Hosts ask smd on Debian's ibsim for a path while its event loop stands still.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cerrno>
#include <string>
#include <vector>

#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/paths.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace held_loop_test {

using std::chrono_literals::operator""s;
using ::testing::HasSubstr;

/// The first thread of a process, held as it is while the others run; `denied` where the system
/// lets nobody do so.
class HeldThread {
 public:
  explicit HeldThread(pid_t pid) : pid_(pid) {
    if (::ptrace(PTRACE_SEIZE, pid_, nullptr, nullptr) != 0) {
      denied = errno == EPERM;
      return;
    }
    ::ptrace(PTRACE_INTERRUPT, pid_, nullptr, nullptr);
    int status = 0;
    held = ::waitpid(pid_, &status, __WALL) == pid_ && WIFSTOPPED(status);
  }

  ~HeldThread() { ::ptrace(PTRACE_DETACH, pid_, nullptr, nullptr); }

  HeldThread(const HeldThread&) = delete;

  bool held = false;
  bool denied = false;

 private:
  pid_t pid_;
};

TEST(WhileTheLoopIsAtSomethingElse, HostsLearnTheirPaths) {
  const Scratch scratch;
  Ibsim ibsim(net_of("fat-tree:k=4,levels=3", scratch.path()));
  ASSERT_TRUE(ibsim.ready()) << ibsim.complaint();
  const auto& adapters = ibsim.facts().adapter_ids;
  Process manager(
      {.argv = {smd_path(), "run", "-c", write_config(scratch.path(), "interval_s = 0\n")},
       .env = ibsim.client_environment(adapters.front())});
  const auto get = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {build_path("bin/sa_client"), "get"});
    return tool(ibsim, adapters.back(), words);
  };
  const auto node_out = [&] { return get({"NR", "lid=1"}).out; };
  const auto is_answered = [&] { return node_out().find("status=0x0000") != std::string::npos; };
  ASSERT_TRUE(wait_until(is_answered, 20s)) << manager.err();
  const auto path = [&] { return get({"PR", "sgid=self", "dlid=1"}); };
  const Finished before = path();
  ASSERT_THAT(before.out, HasSubstr("status=0x0000")) << before.err;
  {
    const HeldThread loop(manager.pid());
    if (loop.denied) GTEST_SKIP() << "ptrace is not allowed here";
    ASSERT_TRUE(loop.held);
    EXPECT_EQ(path().out, before.out);
    EXPECT_EQ(get({"NR", "lid=1"}).exit_code, 2) << "that is the loop's";
  }
  // It stood still for so long that a standby might rule by now: it looks before it answers.
  EXPECT_TRUE(wait_until(is_answered, 20s)) << manager.err();
}

}  // namespace held_loop_test
}  // namespace smd::test
