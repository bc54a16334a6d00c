// Processes that are threads of the test: they meet in memory.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sim-backend/kernel/processes.h"

namespace smd::sim::test {

class MemoryProcesses {
 public:
  /// What a process failed with; the others end with the same.
  struct Failed : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  /// May change what process `from` sends to `to` the n-th time.
  using Meddler = std::function<void(
      unsigned from, unsigned to, std::uint64_t number, Processes::Bytes& message)>;

  explicit MemoryProcesses(unsigned count, Meddler meddler = {})
      : count_(count), meddler_(std::move(meddler)), posted_(count), sent_(count) {}

  /// work() in each; what the first failed with, or nothing.
  std::string run(const std::function<void(Processes&)>& work) {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < count_; ++i) {
      threads.emplace_back([this, i, &work] {
        One one(*this, i);
        try {
          work(one);
        } catch (const Failed&) {
        }
      });
    }
    threads.clear();
    return failure_;
  }

 private:
  class One final : public Processes {
   public:
    One(MemoryProcesses& all, unsigned number) : all_(all), number_(number) {}

    [[nodiscard]] unsigned number() const override { return number_; }

    [[nodiscard]] unsigned count() const override { return all_.count_; }

    void agree(std::span<std::int64_t> values) override {
      all_.posted_[number_] = values;
      all_.meet();
      std::vector<std::int64_t> least(values.size(), std::numeric_limits<std::int64_t>::max());
      for (const auto& of : all_.posted_) {
        for (std::size_t i = 0; i < values.size(); ++i) least[i] = std::min(least[i], of[i]);
      }
      all_.meet();
      std::ranges::copy(least, values.begin());
    }

    void exchange(std::span<std::int64_t> values,
                  std::span<const Bytes> out,
                  std::span<Bytes> in) override {
      all_.sent_[number_] = out;
      ++exchanges_;
      agree(values);
      for (unsigned from = 0; from < all_.count_; ++from) {
        if (from == number_) continue;
        in[from] = all_.sent_[from][number_];
        if (all_.meddler_) all_.meddler_(from, number_, exchanges_, in[from]);
      }
      all_.meet();
    }

    void share(std::span<std::byte> bytes, unsigned owner) override {
      if (number_ == owner) all_.shared_ = bytes;
      all_.meet();
      if (number_ != owner) std::ranges::copy(all_.shared_, bytes.begin());
      all_.meet();
    }

    [[noreturn]] void fail(const std::string& why) override {
      const std::lock_guard lock(all_.mutex_);
      if (all_.failure_.empty()) all_.failure_ = why;
      all_.all_came_.notify_all();
      throw Failed(why);
    }

   private:
    MemoryProcesses& all_;
    unsigned number_;
    std::uint64_t exchanges_ = 0;
  };

  void meet() {
    std::unique_lock lock(mutex_);
    const std::uint64_t before = times_;
    if (++came_ == count_) {
      came_ = 0;
      ++times_;
      all_came_.notify_all();
      return;
    }
    all_came_.wait(lock, [&] { return times_ != before || !failure_.empty(); });
    if (times_ == before) throw Failed(failure_);
  }

  unsigned count_;
  Meddler meddler_;
  std::mutex mutex_;
  std::condition_variable all_came_;
  unsigned came_ = 0;
  std::uint64_t times_ = 0;
  std::string failure_;
  std::vector<std::span<std::int64_t>> posted_;
  std::vector<std::span<const Processes::Bytes>> sent_;
  std::span<std::byte> shared_;
};

}  // namespace smd::sim::test
