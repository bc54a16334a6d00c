#include "smd/replica/client.h"

#include <algorithm>
#include <utility>

#include "smd/base/log.h"

namespace smd::replica {

Client::Client(Runtime& runtime,
               Dialer& dialer,
               std::vector<std::string> peers,
               WallClock wall,
               Handlers handlers,
               HeartbeatTiming timing)
    : runtime_(runtime),
      dialer_(dialer),
      wall_(std::move(wall)),
      handlers_(std::move(handlers)),
      timing_(timing) {
  for (std::string& each : peers) {
    peers_.push_back(std::make_unique<Peer>());
    peers_.back()->view.peer = std::move(each);
  }
}

void Client::present(const Hello& hello) {
  if (hello == hello_) return;
  hello_ = hello;
  for (const auto& peer : peers_)
    if (peer->link && !peer->link->ended())
      peer->link->send(FrameKind::Hello, encode_hello(hello_));
}

void Client::enable(bool on) {
  if (std::exchange(enabled_, on) == on) return;
  for (const auto& peer : peers_) {
    // On the next turn of the loop: this may be called from inside a handler of the link.
    peer->timer = Timer(runtime_, runtime_.now(), [this, on, at = peer.get()] {
      at->attempt.reset();
      at->link.reset();
      at->view.connected = false;
      at->view.hello.reset();
      at->wait = kShortestWait;
      if (on) dial(*at);
    });
  }
}

void Client::dial(Peer& peer) {
  peer.link.reset();
  peer.attempt = dialer_.dial(peer.view.peer, [this, &peer](auto stream) {
    if (!stream) return fail_later(peer, stream.error().context);
    adopt(peer, std::move(*stream));
  });
}

void Client::adopt(Peer& peer, std::unique_ptr<Stream> stream) {
  peer.view.connected = true;
  peer.pieces.clear();
  peer.link = std::make_unique<Link>(
      runtime_,
      std::move(stream),
      wall_,
      Link::Handlers{.on_frame = [this, &peer](Frame frame) { on_frame(peer, std::move(frame)); },
                     .on_end = [this, &peer](const std::string& why) { fail_later(peer, why); }},
      timing_);
  peer.link->send(FrameKind::Hello, encode_hello(hello_));
}

void Client::on_frame(Peer& peer, Frame frame) {
  if (frame.kind == FrameKind::Hello) {
    const auto hello = decode_hello(frame.body);
    if (!hello) return peer.link->end(hello.error().context);
    if (hello->subnet_prefix != hello_.subnet_prefix)
      return peer.link->end("it manages a subnet with another prefix");
    peer.pieces.clear();  // of one who was another
    if (!std::exchange(peer.view.hello, *hello))
      log::info("replica.peer", "peer={} role=source", peer.view.peer);
    return;
  }
  if (frame.kind == FrameKind::Taken) return peer.link->end("it takes state that nobody sent");
  on_state(peer, std::move(frame));
}

void Client::on_state(Peer& peer, Frame frame) {
  auto part = decode_part(std::move(frame.body));
  if (!part) return peer.link->end(part.error().context);
  if (!handlers_.is_master(*peer.view.hello))
    return peer.link->end("it sends state and is not the master that we know");
  const std::string name = part->name;
  std::string& text = peer.pieces[name];
  if (text.size() + part->text.size() > kLargestState)
    return peer.link->end("its state '" + name + "' has no end");
  text += part->text;
  if (frame.kind == FrameKind::Piece) return peer.link->send(FrameKind::Taken, name);
  part->text = std::exchange(text, {});
  const auto& take = frame.kind == FrameKind::Changes ? handlers_.on_changes : handlers_.on_part;
  if (!take || !take(std::move(*part), frame.wall_ms))
    return peer.link->end("its state '" + name + "' cannot be read");
  peer.link->send(FrameKind::Taken, name);
  ++peer.view.parts;
  peer.wait = kShortestWait;
  peer.view.trouble.clear();
  peer.said.clear();
}

/// May be called from inside a handler of the link or attempt.
void Client::fail_later(Peer& peer, const std::string& why) {
  peer.view.connected = false;
  peer.view.hello.reset();
  peer.view.trouble = why;
  ++peer.view.failures;
  if (std::exchange(peer.said, why) != why)
    log::warn("replica.lost", "peer={} why=\"{}\"; tried again", peer.view.peer, why);
  if (!enabled_) return;
  peer.timer = Timer(runtime_, runtime_.now() + peer.wait, [this, &peer] { dial(peer); });
  peer.wait = std::min(2 * peer.wait, kLongestWait);
}

std::vector<PeerView> Client::peers() const {
  std::vector<PeerView> views;
  for (const auto& peer : peers_) views.push_back(peer->view);
  return views;
}

}  // namespace smd::replica
