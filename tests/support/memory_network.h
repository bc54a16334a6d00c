// A network in memory for what managers tell each other about their state: bytes arrive a little
// later, on the loop of whom they are for; connections can be frozen.
#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/replica/stream.h"
#include "smd/runtime/runtime.h"

namespace smd::test {

class MemoryNetwork {
 public:
  using OnStream = std::function<void(std::unique_ptr<replica::Stream>)>;

  /// Streams of who connects to `name` are handled on the listener's loop.
  void listen(const std::string& name, Runtime& runtime, OnStream on_stream) {
    listeners_[name] = {&runtime, std::move(on_stream)};
  }

  void close(const std::string& name) { listeners_.erase(name); }

  [[nodiscard]] std::unique_ptr<replica::Dialer> dialer(Runtime& runtime) {
    return std::make_unique<Caller>(*this, runtime);
  }

  /// From now on nothing arrives, and nobody is told: what is sent waits.
  void freeze(bool on) { *frozen_ = on; }

  Duration delay = std::chrono::milliseconds(1);  // of bytes
  std::uint64_t connections = 0;
  std::function<void(std::string_view bytes)> on_send;  // each frame

 private:
  static constexpr Duration kDelay = std::chrono::milliseconds(1);

  class End;

  /// What both ends share.
  struct Wire {
    std::array<End*, 2> ends{};
  };

  class End final : public replica::Stream {
   public:
    End(MemoryNetwork& net, Runtime& runtime, std::shared_ptr<Wire> wire, std::size_t side)
        : net_(net), runtime_(runtime), wire_(std::move(wire)), side_(side), frozen_(net.frozen_) {
      wire_->ends[side_] = this;
    }

    ~End() override { shut(); }

    void start(Handlers handlers) override {
      handlers_ = std::move(handlers);
      if (!in_.empty()) arm();
    }

    void send(std::string bytes) override {
      if (net_.on_send) net_.on_send(bytes);
      if (End* other = peer()) {
        other->in_ += bytes;
        if (!*frozen_) other->arm();
      }
    }

    [[nodiscard]] std::size_t waiting() const override {
      const End* other = wire_->ends[1 - side_];
      return other == nullptr ? 0 : other->in_.size();
    }

    void close() override { shut(); }

    [[nodiscard]] std::string name() const override { return "memory"; }

   private:
    [[nodiscard]] End* peer() const { return wire_->ends[1 - side_]; }

    void arm() {
      deliver_ = Timer(runtime_, runtime_.now() + net_.delay, [this] {
        if (*frozen_ || !handlers_.on_bytes) return;
        const std::string bytes = std::exchange(in_, {});
        if (!bytes.empty())
          handlers_.on_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())));
      });
    }

    void shut() {
      deliver_.reset();
      ended_.reset();
      if (wire_->ends[side_] != this) return;
      wire_->ends[side_] = nullptr;
      End* other = peer();
      if (other == nullptr || *frozen_) return;
      other->ended_ = Timer(other->runtime_, other->runtime_.now() + 2 * kDelay, [other] {
        if (other->handlers_.on_end) other->handlers_.on_end("the other end is gone");
      });
    }

    MemoryNetwork& net_;
    Runtime& runtime_;
    std::shared_ptr<Wire> wire_;
    std::size_t side_;
    std::shared_ptr<bool> frozen_;
    Handlers handlers_;
    std::string in_;
    Timer deliver_;
    Timer ended_;
  };

  struct Dialing final : replica::Attempt {
    Timer timer;
  };

  class Caller final : public replica::Dialer {
   public:
    Caller(MemoryNetwork& net, Runtime& runtime) : net_(net), runtime_(runtime) {}

    [[nodiscard]] std::unique_ptr<replica::Attempt> dial(const std::string& peer,
                                                         Done done) override {
      auto attempt = std::make_unique<Dialing>();
      attempt->timer =
          Timer(runtime_, runtime_.now() + kDelay, [this, peer, done = std::move(done)] {
            const auto found = net_.listeners_.find(peer);
            if (found == net_.listeners_.end() || *net_.frozen_)
              return done(fail(Errc::Io, "nobody listens there"));
            ++net_.connections;
            auto wire = std::make_shared<Wire>();
            auto near = std::make_unique<End>(net_, runtime_, wire, 0);
            found->second.second(std::make_unique<End>(net_, *found->second.first, wire, 1));
            done(std::unique_ptr<replica::Stream>(std::move(near)));
          });
      return attempt;
    }

   private:
    MemoryNetwork& net_;
    Runtime& runtime_;
  };

  std::map<std::string, std::pair<Runtime*, OnStream>> listeners_;
  std::shared_ptr<bool> frozen_ = std::make_shared<bool>(false);
};

}  // namespace smd::test
