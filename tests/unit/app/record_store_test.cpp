// When what clients left is written, and what happens where it cannot be.
#include "smd/app/record_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sim-backend/kernel/sim_runtime.h"
#include "smd/app/state_file.h"

namespace smd::app {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

struct Records : ::testing::Test {
  Records() {
    store.set_collect([this] { return kept; });
  }

  ~Records() override { std::filesystem::remove_all(folder); }

  void leave(std::uint64_t port) {
    kept.in_service.push_back(Guid{port});
    store.note_change();
  }

  [[nodiscard]] std::vector<Guid> read_back() {
    RecordStore next(runtime, state, [] { return 0; });
    return next.load().in_service;
  }

  void pass(Duration time) { runtime.run_until(runtime.now() + time); }

  static std::string make_folder() {
    std::string name = testing::TempDir() + "/smd-records-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }

  std::string folder = make_folder();
  sim::SimRuntime runtime;
  KeptRecords kept;
  std::string state = folder + "/state";
  RecordStore store{runtime, state, [] { return 0; }};
};

TEST_F(Records, AreWrittenAMomentAfterTheyChanged) {
  leave(1);
  pass(RecordStore::kDelay - 1ms);
  EXPECT_TRUE(read_back().empty());
  leave(2);
  pass(2ms);
  EXPECT_EQ(read_back(), (std::vector<Guid>{Guid{1}, Guid{2}})) << "both in one write";
}

TEST_F(Records, AFailedWriteIsTriedAgainUntilItSucceeds) {
  std::ofstream(state) << "a file where the directory should be";
  leave(1);
  pass(15s);
  std::filesystem::remove(state);
  pass(10s);
  EXPECT_EQ(read_back(), std::vector<Guid>{Guid{1}});
}

TEST_F(Records, WhatIsDamagedIsPutAsideAndNothingIsKnown) {
  leave(1);
  pass(1s);
  for (const char* name : {"/records", "/records.old"}) {
    if (std::filesystem::exists(state + name)) std::filesystem::resize_file(state + name, 30);
  }
  EXPECT_TRUE(read_back().empty());
  EXPECT_TRUE(std::filesystem::exists(state + "/records.damaged"));
  leave(2);
  store.flush();
  EXPECT_EQ(read_back(), (std::vector<Guid>{Guid{1}, Guid{2}}));
}

}  // namespace
}  // namespace smd::app
